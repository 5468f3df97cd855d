"""The terminal interface of toolkit: it formats models and sends intentions, and owns no facts.

`screens.app.run` is the one entrance; `toolkit.cli` imports it when it is needed and not before.
"""
