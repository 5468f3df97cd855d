"""Is a value what its variable says? One clear line where it is not."""

from __future__ import annotations

import re

from toolkit.errors import UsageError
from toolkit.procedures.model import Variable, VariableType
from toolkit.text import printable

_DEVICE = r"/dev/[A-Za-z0-9][A-Za-z0-9_.:+@=/-]*"

# Each pattern, and what a person reads where it does not match.
_FORMS: dict[VariableType, tuple[str, str]] = {
    VariableType.DISK: (_DEVICE, "a disk: /dev/sda, or /dev/disk/by-id/..."),
    VariableType.PARTITION: (_DEVICE, "a partition: /dev/sda2, or /dev/disk/by-id/...-part2"),
    # zpool-create(8): begins with a letter; letters, digits, _ - . : and space.
    VariableType.POOL: (r"[A-Za-z][A-Za-z0-9_.: -]{0,254}", "a pool's name: a letter, then letters, digits, _ - . :"),
    VariableType.DATASET: (
        r"[A-Za-z][A-Za-z0-9_.: -]*(/[A-Za-z0-9_.:][A-Za-z0-9_.: -]*)*",
        "a dataset: pool/name",
    ),
    # Documentation/ABI/stable/sysfs-bus-usb: bus-port.port
    VariableType.USB_DEVICE: (r"[0-9]+-[0-9]+(\.[0-9]+)*", "a USB device's place: 2-3, or 1-1.4"),
    VariableType.SERIAL_PORT: (r"/dev/tty[A-Za-z0-9]+", "a serial port: /dev/ttyUSB2"),
    VariableType.HOST_NAME: (
        r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?",
        "a host name: letters, digits and -, at most 63 (hostname(7))",
    ),
    VariableType.USER_NAME: (r"[a-z_][a-z0-9_-]{0,31}", "a user name: small letters, digits, _ and - (useradd(8))"),
    VariableType.HEX: (r"[0-9A-Fa-f]+", "hexadecimal digits"),
    VariableType.PATH: (r"/[^\0\n]*", "a path that begins with /"),
    VariableType.CHOICE: (r".+", "one of the choices"),
    VariableType.TEXT: (r"[^\0\n\r]*", "one line of text"),
    VariableType.SECRET: (r"[^\0\n\r]+", "one line"),
}


def check_value(variable: Variable, value: str) -> str:
    """Return a value that its variable accepts. Raises UsageError with one line; a secret is never in it."""
    if not value:
        if variable.optional:
            return value
        raise UsageError(f"{variable.name}: nothing given", f"{variable.prompt} (--set {variable.name}=...)")
    pattern, form = _FORMS[variable.type]
    shown = "the value" if variable.type is VariableType.SECRET else repr(printable(value, 80))
    if not re.fullmatch(pattern, value) or ".." in value.split("/"):
        raise UsageError(f"{variable.name}: {shown} is not {form}", variable.prompt)
    if variable.choices and value not in variable.choices:
        raise UsageError(f"{variable.name}: {shown} is none of {', '.join(variable.choices)}", variable.prompt)
    if variable.pattern and not re.fullmatch(variable.pattern, value):
        raise UsageError(f"{variable.name}: {shown} does not fit {variable.pattern}", variable.prompt)
    return value
