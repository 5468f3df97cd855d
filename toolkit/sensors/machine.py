"""What names the machine: model, kernel, CPU, distribution.

Sources: Documentation/ABI/testing/sysfs-class-dmi, proc(5), os-release(5).
"""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.errors import NotCaptured
from toolkit.host.base import Host
from toolkit.host.read import read_all, read_line
from toolkit.sensors.fold import CpuFacts
from toolkit.sensors.hwmon import HWMON
from toolkit.sensors.model import Machine
from toolkit.text import printable

_DMI = "/sys/class/dmi/id"
_FILLERS = frozenset(
    {
        "",
        "System Product Name",
        "System manufacturer",
        "To Be Filled By O.E.M.",
        "Default string",
        "None",
        "Not Specified",
        "INVALID",
    }
)


@dataclass(frozen=True, slots=True)
class CpuInfo:
    """The first processor of /proc/cpuinfo: vendor id, model name, and whether a hypervisor runs it."""

    vendor: str | None
    model: str | None
    virtual: bool


def probe_machine(host: Host) -> Machine:
    """Read what names the machine; what it does not say is None."""
    return Machine(
        model=_model(host),
        kernel=read_line(host, "/proc/sys/kernel/osrelease"),
        cpu=probe_cpu(host).model,
        distribution=parse_os_release(read_all(host, "/etc/os-release")).get("PRETTY_NAME"),
    )


def probe_cpu(host: Host) -> CpuInfo:
    """Read the first processor's entry; reading all would ask every core."""
    return parse_cpuinfo(read_all(host, "/proc/cpuinfo", 4096))


def parse_cpuinfo(text: str) -> CpuInfo:
    """Parse the first entry of /proc/cpuinfo. Never raises."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    model = fields.get("model name") or fields.get("Model") or fields.get("Hardware")
    return CpuInfo(
        vendor=fields.get("vendor_id"),
        model=printable(model, 80) if model else None,
        virtual="hypervisor" in fields.get("flags", "").split(),
    )


def parse_os_release(text: str) -> dict[str, str]:
    """Parse os-release(5): `KEY=value` or `KEY="value"`. Never raises; what is no assignment is left out."""
    fields = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and key.strip() and not key.startswith("#"):
            value = value.strip()
            if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            fields[key.strip()] = printable(value, 120)
    return fields


def probe_cpu_facts(host: Host) -> CpuFacts:
    """Read what the fold needs to say why there is no headline."""
    cpu = probe_cpu(host)
    captured, empty = True, True
    try:
        empty = not host.listdir(HWMON)
    except NotCaptured:
        captured = False
    except OSError:
        pass
    return CpuFacts(vendor=cpu.vendor, virtual=cpu.virtual, no_hwmon=empty, captured=captured)


def _model(host: Host) -> str | None:
    vendor = read_line(host, f"{_DMI}/sys_vendor")
    product = read_line(host, f"{_DMI}/product_name")
    version = read_line(host, f"{_DMI}/product_version")
    if vendor is not None and vendor.upper().startswith("LENOVO") and version not in _FILLERS:
        product = version  # Lenovo keeps the machine's name there and a type number in product_name
    if product is None or product in _FILLERS:
        return read_line(host, "/proc/device-tree/model")
    if vendor is None or vendor in _FILLERS or product.lower().startswith(vendor.split()[0].lower()):
        return product
    maker = vendor.split()[0]
    return f"{maker.title() if maker.isupper() and len(maker) > 3 else maker} {product}"
