"""Which machine a command looks at: this one, a mounted one, a captured one, or the demo."""

from __future__ import annotations

from toolkit.errors import UsageError
from toolkit.host.base import Host
from toolkit.host.local import LocalHost

DEMO = "demo/framework13"
"""The asset that `--demo` shows."""


def open_host(capture: str | None = None, root: str = "/", demo: bool = False, clock: str = "virtual") -> Host:
    """Return the Host that the global options ask for.

    Args:
        capture: `--from`: a folder or a .tar.gz.
        root: `--root`: where another machine's root is mounted.
        demo: `--demo`: the captured laptop that comes with the program.
        clock: of a captured machine, `virtual` or `real`.

    Raises UsageError where the options exclude each other or root is no folder, CaptureError.
    """
    chosen = [
        name for name, given in (("--from", capture is not None), ("--root", root != "/"), ("--demo", demo)) if given
    ]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other", "give one of them")
    if capture is None and not demo:
        return LocalHost(root)
    from toolkit.host.replay import ReplayHost

    if demo:
        from toolkit.assets import path_of

        return ReplayHost(path_of(DEMO), clock=clock, label="demo")
    return ReplayHost(str(capture), clock=clock)
