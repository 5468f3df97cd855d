"""Procedures: everything that changes a machine, as data, on one engine.

`model` is what a procedure is, `loader` reads one from TOML, `registry` holds the named functions of the subjects,
`engine` runs it as a generator of events, `journal` keeps the record, `undo` takes it back, `export` writes a script.
"""
