"""What tells one person's machine from all others, and how it is found in a capture.

A subject that knows more of them (the IMSI of a modem, a pool's guid) calls `Redactor.add_pattern`, `add_file` and
`add_key`, see toolkit.host.redact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret.

    Attributes:
        name: the key of the kind.
        title: one word for a person, in the plural.
        placeholder: what stands for the n-th secret (n from 1); of the form that programs expect.
        made: matches the placeholders, which are never replaced again.
    """

    name: str
    title: str
    placeholder: Callable[[int], str]
    made: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Finds secrets of a kind in text. The secret is the group `secret`, or the whole match where there is none.

    Attributes:
        accept: a further test of the found text.
        in_numbers: also look into a file below /sys or /proc that holds nothing but one number: such a number is a
            reading as a rule, and a counter may look like an IMEI.
    """

    kind: str
    regex: re.Pattern[str]
    accept: Callable[[str], bool] = lambda _: True
    in_numbers: bool = True


def luhn(digits: str) -> bool:
    """True where the last digit is the check digit of ISO/IEC 7812, as in every IMEI (3GPP TS 23.003, annex B)."""
    total = 0
    for position, char in enumerate(reversed(digits)):
        value = int(char) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _ipv4_placeholder(number: int) -> str:
    # The three ranges that RFC 5737 keeps for documentation.
    net = ("192.0.2", "198.51.100", "203.0.113")[min((number - 1) // 254, 2)]
    return f"{net}.{(number - 1) % 254 + 1}"


def _is_ipv4(text: str) -> bool:
    parts = [int(part) for part in text.split(".")]
    return max(parts) < 256 and parts[0] not in (0, 127, 255)


def _is_ipv6(text: str) -> bool:
    import ipaddress

    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def _is_mac(text: str) -> bool:
    return len(set(text.replace("-", ":").split(":"))) > 1


KINDS = {
    kind.name: kind
    for kind in (
        Kind("serial", "serial numbers", lambda n: f"SERIAL{n:04d}", re.compile(r"(?i)SERIAL\d{4,}")),
        Kind(
            "uuid",
            "UUIDs",
            lambda n: f"00000000-0000-4000-8000-{n:012d}",
            re.compile(r"00000000-0000-4000-8000-\d{12}"),
        ),
        Kind("volume", "volume ids", lambda n: f"0000-{n:04d}", re.compile(r"0000-\d{4,}")),
        Kind(
            "mac",
            "MAC addresses",
            lambda n: f"02:00:00:00:{n // 100:02d}:{n % 100:02d}",
            re.compile(r"02([:_-]?)00\1?00\1?00\1?\d\d\1?\d\d"),
        ),
        Kind("imei", "IMEIs", lambda n: f"{n:015d}", re.compile(r"0{8}\d{7}")),
        Kind("iccid", "SIM numbers", lambda n: f"89{n:017d}", re.compile(r"890{10}\d+[fF]?")),
        Kind("ip", "IP addresses", _ipv4_placeholder, re.compile(r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+")),
        Kind("ip6", "IPv6 addresses", lambda n: f"2001:db8::{n}", re.compile(r"(?i)2001:db8::\d+")),
        Kind("host", "host names", lambda n: f"host{n}", re.compile(r"(?i)host\d+")),
        Kind("user", "user names", lambda n: f"user{n}", re.compile(r"(?i)user\d+")),
    )
}

WELL_KNOWN_UUIDS = frozenset(
    """
    c12a7328-f81f-11d2-ba4b-00a0c93ec93b 0fc63daf-8483-4772-8e79-3d69d8477de4 0657fd6d-a4ab-43c4-84e5-0933c84b4f4f
    ebd0a0a2-b9e5-4433-87c0-68b6b72699c7 e3c9e316-0b5c-4db8-817d-f92df00215ae 21686148-6449-6e6f-744e-656564454649
    6a898cc3-1dd2-11b2-99a6-080020736631 6a85cf4d-1dd2-11b2-99a6-080020736631 e6d6d379-f507-44c2-a23c-238f2a3df928
    ca7d7ccb-63ed-4c53-861c-1742536059cc 933ac7e1-2eb4-4f13-b844-0e14e2aef915 a19d880f-05fc-4d3b-a006-743f0f84911e
    4f68bce3-e8cd-4db1-96e7-fbcaf984b709 bc13c2ff-59e6-4262-a352-b275fd6f7172 516e7cba-6ecf-11d6-8ff8-00022d09712b
    de94bba4-06d1-4d40-a16a-bfd50179d6ac 8be4df61-93ca-11d2-aa0d-00e098032b8c 00000000-0000-0000-0000-000000000000
    """.split()  # noqa: SIM905 - a table of words
)
"""Partition types and firmware namespaces: the same on every machine, and programs look for them."""

_HEX2 = "[0-9A-Fa-f]{2}"
_UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"

_VOLUME = r"[0-9A-F]{4}-[0-9A-F]{4}|[0-9A-F]{16}|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{2}"
"""Of vfat, NTFS, and a partition of an MBR. They have no form of their own: only where they are called so."""


def has_digit(text: str) -> bool:
    """True where a digit is in the text: serial numbers have one, and words do not."""
    return any(char.isdigit() for char in text)


PATTERNS = (
    # `Serial Number:    S4EM...`, `serial: ...`, `SerialNumber: ...`, `S/N: ...`, `Asset Tag: ...` of smartctl,
    # dmidecode, lshw and the kernel's log; `iSerial  3 ABC` of lsusb; `ID_SERIAL_SHORT=` of udev; `Uniq=` of input.
    Pattern(
        "serial",
        re.compile(
            r"(?i)(?:\bserial[ _]?(?:number|num|no\.?)?|\bS/?N|\basset[ _]tag)[ \t]*[:=][ \t]*"
            r"\"?(?P<secret>[^\s\"](?:[^\n\",]*[^\s\",])?)"
        ),
    ),
    Pattern("serial", re.compile(r"\bS/?N[ \t]+(?P<secret>[0-9A-Z]{8,})\b"), has_digit),
    Pattern("serial", re.compile(r"\biSerial[ \t]+\d+[ \t]+(?P<secret>\S(?:[^\n]*\S)?)")),
    Pattern("serial", re.compile(r"(?i)\buniq=\"?(?P<secret>[^\s\"]+)")),
    Pattern("serial", re.compile(r"\bID_(?:SERIAL_SHORT|WWN|WWN_WITH_EXTENSION)=(?P<secret>[^\n]+)")),
    Pattern("serial", re.compile(r"\bID_(?:USB_)?SERIAL=(?:[^\n]*_)?(?P<secret>[^_\n]+)"), has_digit),
    Pattern(
        "serial",
        re.compile(r"(?i)\b(?:LU WWN Device Id|IEEE EUI-64|WWN|WWID)[ \t]*[:=][ \t]*\"?(?P<secret>\w[^\n\"]*\w)"),
    ),
    Pattern("serial", re.compile(r"(?i)\b(?:eui|naa|wwn|nguid)[.-](?:0x)?(?P<secret>[0-9a-f]{16,32})\b")),
    # World wide names of disks: network address authority 5 (64 bit) and 6 (128 bit).
    Pattern("serial", re.compile(r"\b0x(?P<secret>5[0-9a-f]{15}|6[0-9a-f]{31})\b")),
    # Links that udev makes: ata-MODEL_SERIAL-part1, usb-MAKER_MODEL_SERIAL-0:0, nvme-MODEL_SERIAL_1.
    Pattern(
        "serial",
        re.compile(
            r"(?<![\w-])(?:ata|usb|nvme|scsi|mmc|memstick|virtio|ieee1394)-(?!eui\.|uuid\.|nqn\.)(?:[^/\s]*_)?(?P<secret>[^/_\s]{5,}?)"
            r"(?:_\d{1,2})?(?:-part\d+|-\d+:\d+|-if\d+|-port\d+|-event[\w-]*)*(?=[\s/]|$)"
        ),
        has_digit,
    ),
    Pattern(
        "uuid", re.compile(rf"(?<![0-9A-Za-z]){_UUID}(?![0-9A-Za-z])"), lambda t: t.lower() not in WELL_KNOWN_UUIDS
    ),
    Pattern(
        "uuid", re.compile(r"(?<![0-9A-Za-z-])[0-9A-Za-z]{6}-(?:[0-9A-Za-z]{4}-){5}[0-9A-Za-z]{6}(?![0-9A-Za-z-])")
    ),
    Pattern("volume", re.compile(rf"(?i)UUID=\"?(?P<secret>{_VOLUME})\b")),
    Pattern("volume", re.compile(rf"/by-(?:part)?uuid/(?P<secret>{_VOLUME})(?=\s|$)")),
    Pattern("mac", re.compile(rf"(?<![0-9A-Fa-f:]){_HEX2}(?::{_HEX2}){{5,19}}(?![0-9A-Fa-f:])"), _is_mac),
    Pattern("mac", re.compile(rf"(?<![0-9A-Fa-f:-]){_HEX2}(?:-{_HEX2}){{5}}(?![0-9A-Fa-f-])"), _is_mac),
    # Interfaces that are named after their address, see systemd.net-naming-scheme(7).
    Pattern("mac", re.compile(rf"\b(?:en|wl|ww)x(?P<secret>(?:{_HEX2}){{6}})\b")),
    Pattern("imei", re.compile(r"(?<!\d)\d{15}(?!\d)"), luhn, in_numbers=False),
    Pattern("iccid", re.compile(r"(?<!\d)89\d{17,18}(?!\d)"), in_numbers=False),
    # Not a hub's port (3-1.2.3.4) and not part of a longer version number.
    Pattern("ip", re.compile(r"(?<![\w.])(?<!\d-)\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d|[A-Za-z_])"), _is_ipv4),
    Pattern("ip6", re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])"), _is_ipv6),
    Pattern("user", re.compile(r"/(?:home|run/media)/(?P<secret>[^/\s:;,\"')\]}]+)")),
)

SECRET_FILES = (
    (
        "serial",
        re.compile(r"/(?:[a-z]+_)?(?:serial|serial[_-]number|asset_tag|unique_id|hostid|wwid|wwn|eui|nguid|uniq)$"),
    ),
    ("serial", re.compile(r"/(?:machine-id|subsysnqn|hostnqn|product_uuid|product_serial)$")),
    ("host", re.compile(r"^(?:/etc/hostname|/proc/sys/kernel/hostname)$")),
)
"""Files whose whole content is a secret."""

OPAQUE_FILES = re.compile(r"/(?:edid|vpd_pg\w+|DMI|smbios_entry_point|raw)$")
"""Binary tables with serial numbers inside that no pattern finds: their content is left out."""

SECRET_KEYS = {
    "serial": "serial serial_number serialnumber sn wwn wwid eui eui64 nguid",
    "uuid": "uuid partuuid ptuuid pool_guid vdev_guid",
    "imei": "imei equipment-identifier",
    "iccid": "iccid",
    "mac": "mac",
    "host": "hostname nodename",
}
"""Keys of JSON answers (lsblk, smartctl, nvme, mmcli) whose value is a secret, by kind."""

MEANINGLESS = re.compile(
    r"(?i)(?:0x)?[0\s.:-]*|none|n/?a|unknown|default string|not (?:specified|applicable|available|present|provided)|"
    r"to be filled.*|system serial number|chassis serial number|base board serial number|no asset.*|"
    r"(?:asset|serial)[ -]?\w*|invalid|empty|oem|o\.e\.m\.|[xf]+|123456789"
)
"""What firmware writes where it has no serial number; not worth hiding, and worth seeing."""

GENERIC_NAMES = frozenset(
    """
    admin arch archlinux computer debian demo desktop fedora framework gentoo guest home host kali laptop linux
    live localhost localdomain manjaro me mint mx nixos none notebook opensuse pc pop-os raspberrypi root server
    suse test thinkpad ubuntu ubuntu-server user users ventoy void workstation
    """.split()  # noqa: SIM905 - a table of words
)
"""Host and user names that tell nobody apart. Replacing them would spoil what the system says about itself."""
