"""Becoming root for one command: sudo where it is there, never pkexec (it needs a graphical session's agent)."""

from __future__ import annotations

from toolkit.errors import MissingError
from toolkit.host.base import Host


def is_root(host: Host) -> bool:
    """True where commands already run as root."""
    return host.euid() == 0


def can_elevate(host: Host) -> bool:
    """True where commands run as root, or sudo is there; whether it lets this person is seen when it is asked."""
    return is_root(host) or host.which("sudo") is not None


def sudo_prefix(host: Host, ask: bool = False) -> tuple[str, ...]:
    """Return the words to put before a command that needs root; none where the program runs as root.

    Args:
        ask: the command runs on the person's terminal, where sudo may ask for a password. Without it sudo fails at
            once where it would have to ask (`sudo -n`), so that nothing waits for an answer that cannot come.

    Raises MissingError where there is no sudo.
    """
    if is_root(host):
        return ()
    if host.which("sudo") is None:
        raise MissingError("this needs root, and sudo is not installed", "run it as root: su -c 'toolkit ...'")
    return ("sudo", "--") if ask else ("sudo", "-n", "--")


def own_command() -> str:
    """Return the word that starts this program under sudo, which looks in the system's folders only (secure_path)."""
    import os
    import shlex
    import sys

    path = os.path.abspath(sys.argv[0])
    if os.path.basename(path) != "toolkit" or os.path.dirname(path) in ("/usr/bin", "/usr/local/bin"):
        return "toolkit"
    return shlex.quote(path)
