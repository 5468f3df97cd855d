from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.host.identifiers import KINDS, Kind, Pattern, luhn
from toolkit.host.redact import Redactor


def redacted(text: str, path: str = "", **learned: str) -> str:
    redactor = Redactor()
    for kind, secret in learned.items():
        redactor.learn(kind, secret)
    redactor.find(text, path)
    return redactor.text(text, path)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("SN S4EMNX0R123456K\n", "SN SERIAL0001\n"),
        ("sn: S4EMNX0R123456K\n", "sn: SERIAL0001\n"),
        ("Serial Number:    S4EMNX0N123456\nModel: X\n", "Serial Number:    SERIAL0001\nModel: X\n"),
        ("\tSerial No.: AB-12 34 \n", "\tSerial No.: SERIAL0001 \n"),
        ("serial: 5CD1234XYZ", "serial: SERIAL0001"),
        ("usb 1-1: SerialNumber: 0123ABCD99", "usb 1-1: SerialNumber: SERIAL0001"),
        ("  iSerial                 3 ABC123DEF", "  iSerial                 3 SERIAL0001"),
        ("Asset Tag: 4711-A", "Asset Tag: SERIAL0001"),
        ("LU WWN Device Id: 5 002538 e00000001", "LU WWN Device Id: SERIAL0001"),
        ("ID_SERIAL_SHORT=S3Z1N0K12\nID_SERIAL=SSD_S3Z1N0K12", "ID_SERIAL_SHORT=SERIAL0001\nID_SERIAL=SSD_SERIAL0001"),
        ("E:ID_SERIAL=Samsung_SSD_860_S3Z1NB0K12", "E:ID_SERIAL=Samsung_SSD_860_SERIAL0001"),
        ("/dev/disk/by-id/ata-ACME_SSD_860_S3Z1NB0K12-part1", "/dev/disk/by-id/ata-ACME_SSD_860_SERIAL0001-part1"),
        ("/dev/disk/by-id/nvme-WD_SN770_22334455AB_1", "/dev/disk/by-id/nvme-WD_SN770_SERIAL0001_1"),
        ("/dev/disk/by-id/usb-Generic_Flash_8A1B2C3D-0:0", "/dev/disk/by-id/usb-Generic_Flash_SERIAL0001-0:0"),
        ("usb-Sierra_Wireless_EM7455_LF12345678-if00-port0", "usb-Sierra_Wireless_EM7455_SERIAL0001-if00-port0"),
        ("usb-Logitech_USB_Receiver-if02-event-mouse", "usb-Logitech_USB_Receiver-if02-event-mouse"),
        ("/dev/disk/by-id/nvme-eui.0025385b01234567", "/dev/disk/by-id/nvme-eui.SERIAL0001"),
        ("wwn-0x5002538e09b2f4a1", "wwn-0xSERIAL0001"),
        ('{"serial": "S4EM12345", "wwn": "0x5002538e09b2f4a1"}', '{"serial": "SERIAL0001", "wwn": "0xSERIAL0002"}'),
        ('"wwn": {"naa": 5, "oui": 9528, "id": 61234567890}', '"wwn": {"naa": 0, "oui": 0, "id": 0}'),
        ('{"serial": null}', '{"serial": null}'),
        ("UUID=1A2B-3C4D /boot/efi", "UUID=0000-0001 /boot/efi"),
        ("/dev/disk/by-uuid/01D8ABCDEF123456", "/dev/disk/by-uuid/0000-0001"),
        ("root=UUID=3f2a9c1e-1b2c-4d5e-8f90-0123456789ab ro", "root=UUID=00000000-0000-4000-8000-000000000001 ro"),
        ("luks-3F2A9C1E-1B2C-4D5E-8F90-0123456789AB", "luks-00000000-0000-4000-8000-000000000001"),
        ("pv qwERty-1234-abCD-5678-EFgh-9012-zxCVbn", "pv 00000000-0000-4000-8000-000000000001"),
        ("type c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "type c12a7328-f81f-11d2-ba4b-00a0c93ec93b"),
        ("link/ether 3c:58:c2:aa:bb:cc brd ff:ff:ff:ff:ff:ff", "link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff"),
        ("hci0 3C-58-C2-AA-BB-CC", "hci0 02-00-00-00-00-01"),
        ("wlx3c58c2aabbcc up", "wlx020000000001 up"),
        ("power_supply/hid-3c:58:c2:aa:bb:cc-battery", "power_supply/hid-02:00:00:00:00:01-battery"),
        ("+CGSN: 490154203237518", "+CGSN: 000000000000001"),
        ("not an IMEI 490154203237519", "not an IMEI 490154203237519"),
        ("iccid 8949012345678901234F", "iccid 8900000000000000001F"),
        ("inet 192.168.178.23/24", "inet 192.0.2.1/24"),
        ("lo 127.0.0.1 mask 255.255.255.0", "lo 127.0.0.1 mask 255.255.255.0"),
        ("usb 3-1.2.3.4: new, version 1.2.3.4.5", "usb 3-1.2.3.4: new, version 1.2.3.4.5"),
        ("inet6 2a02:8109:b6c0::1234/64 scope", "inet6 2001:db8::1/64 scope"),
        ("fe80::3e58:c2ff:feaa:bbcc%wlan0 ::1", "2001:db8::1%wlan0 ::1"),
        ("input3::capslock 0000:00:1f.3 12:34:56", "input3::capslock 0000:00:1f.3 12:34:56"),
        ("/home/alice/.config x alice", "/home/user1/.config x user1"),
        ("/run/media/alice/STICK", "/run/media/user1/STICK"),
        ("/home/user/x", "/home/user/x"),
        ("HID_UNIQ=ab12cd34", "HID_UNIQ=ab12cd34"),
        ("U: Uniq=ab12cd34ef", "U: Uniq=SERIAL0001"),
        ("Serial Number: To be filled by O.E.M.\n", "Serial Number: To be filled by O.E.M.\n"),
        ("Serial Number: 0000000\n", "Serial Number: 0000000\n"),
    ],
)  # fmt: skip
def test_what_is_found_and_what_is_left(text: str, clean: str) -> None:
    assert redacted(text) == clean


@pytest.mark.parametrize(
    ("path", "content", "clean"),
    [
        ("/sys/block/nvme0n1/device/serial", "S4EMNX0N123456      \n", "SERIAL0001      \n"),
        ("/sys/class/dmi/id/product_serial", "7\n", "SERIAL0001\n"),
        ("/sys/class/dmi/id/product_uuid", "4c4c4544-0047-3510-8035-b9c04f4d3533\n", "SERIAL0001\n"),
        ("/etc/machine-id", "0123456789abcdef0123456789abcdef\n", "SERIAL0001\n"),
        ("/sys/class/power_supply/BAT0/serial_number", " 1234", " SERIAL0001"),
        ("/proc/device-tree/serial-number", "c03abc12\0", "SERIAL0001\0"),
        ("/sys/block/sda/device/wwid", "naa.5002538e09b2f4a1\n", "naa.SERIAL0001\n"),
        ("/sys/class/dmi/id/chassis_asset_tag", "No Asset Information\n", "No Asset Information\n"),
        ("/etc/hostname", "bluebird\n", "host1\n"),
        ("/etc/hostname", "debian\n", "debian\n"),
        ("/sys/class/powercap/x/energy_uj", "490154203237518\n", "490154203237518\n"),
        ("/proc/x", "text 490154203237518\n", "text 000000000000001\n"),
        ("/proc/tty/driver/serial", "serinfo:1.0\n0: uart\n", "serinfo:1.0\n0: uart\n"),
    ],
)
def test_files_whose_content_is_a_secret(path: str, content: str, clean: str) -> None:
    assert redacted(content, path) == clean


def test_the_same_secret_is_the_same_everywhere_and_another_is_another() -> None:
    redactor = Redactor()
    redactor.find("S4EMNX0N123456\n", "/sys/block/nvme0n1/device/serial")
    redactor.find("S4EMNX0N999999\n", "/sys/block/nvme1n1/device/serial")
    redactor.find("3c:58:c2:aa:bb:cc\n", "/sys/class/net/wlan0/address")
    assert redactor.text("nvme-WD_s4emnx0n123456-part1 and S4EMNX0N999999") == "nvme-WD_SERIAL0001-part1 and SERIAL0002"
    assert redactor.text("dev_3C_58_C2_AA_BB_CC wlx3c58c2aabbcc") == "dev_02_00_00_00_00_01 wlx020000000001"
    assert redactor.counts() == {"serial numbers": 2, "MAC addresses": 1}


def test_a_uuid_is_known_in_its_other_forms() -> None:
    redactor = Redactor()
    redactor.find("3f2a9c1e-1b2c-4d5e-8f90-0123456789ab")
    assert redactor.text("3f2a9c1e1b2c4d5e8f900123456789ab") == "00000000000040008000000000000001"
    assert redactor.text(r"luks\x2d3f2a9c1e\x2d1b2c\x2d4d5e\x2d8f90\x2d0123456789ab").endswith(r"\x2d000000000001")


def test_a_serial_number_with_spaces_is_known_as_udev_writes_it() -> None:
    redactor = Redactor()
    redactor.learn("serial", "WD WX31 4711")
    assert redactor.text("ata-WDC_WD_WX31_4711") == "ata-WDC_SERIAL0001"


def test_a_word_of_the_kernel_stays_although_a_person_is_called_so() -> None:
    redactor = Redactor()
    redactor.protect(["/sys/class/hwmon/hwmon3/temp1_max", "/sys/class/thermal"])
    for name in ("max", "thermal", "temp", "alice"):
        redactor.learn("user", name)
    assert redactor.text("/sys/class/hwmon/hwmon3/temp1_max") == "/sys/class/hwmon/hwmon3/temp1_max"
    assert (
        redactor.text("/home/max/x max /home/alice alice-disk alice2")
        == "/home/user1/x max /home/user4 user4-disk alice2"
    )


def test_short_and_weak_serial_numbers_are_replaced_only_where_they_were_recognised() -> None:
    redactor = Redactor()
    for number, secret in enumerate(["1234567", "hwmon3", "ABC", "nvme0", "Receiver"]):
        redactor.find(f"{secret}\n", f"/sys/devices/{number}/serial")
    text = "temp 1234567 hwmon3 ABC nvme0 Receiver"
    assert redactor.text(text) == text
    assert redactor.text("ABC\n", "/sys/devices/2/serial").startswith("SERIAL")


def test_a_number_is_not_replaced_inside_a_longer_number() -> None:
    redactor = Redactor()
    redactor.learn("serial", "12345678")
    assert redactor.text("912345678 12345678 x12345678") == "912345678 SERIAL0001 xSERIAL0001"


def test_binary_files_are_clean_in_utf_16_too() -> None:
    redactor = Redactor()
    redactor.learn("serial", "S4EMNX0N123456")
    data = b"\0\xff" + "S4EMNX0N123456".encode("utf-16-le") + b"S4EMNX0N123456\xfe"
    clean = redactor.data(data)
    assert b"S4EMNX0N123456" not in clean.replace(b"\0", b"")
    assert clean.startswith(b"\0\xff")
    assert clean.endswith(b"SERIAL0001\xfe")


def test_binary_tables_are_opaque() -> None:
    redactor = Redactor()
    for path in ("/sys/class/drm/card0-eDP-1/edid", "/sys/firmware/dmi/tables/DMI", "/sys/block/sda/device/vpd_pg83"):
        assert redactor.is_opaque(path)
        assert not Redactor(keep=("serial",)).is_opaque(path)
    assert not redactor.is_opaque("/sys/class/hwmon/hwmon0/name")


def test_serial_numbers_can_be_kept_and_nothing_else_is() -> None:
    redactor = Redactor(keep=("serial",))
    text = "Serial Number: S4EMNX0N123456 3c:58:c2:aa:bb:cc"
    redactor.find(text)
    redactor.find("S4EMNX0N123456", "/x/serial")
    assert redactor.text(text) == "Serial Number: S4EMNX0N123456 02:00:00:00:00:01"
    assert redactor.text("S4EMNX0N123456", "/x/serial") == "S4EMNX0N123456"
    assert redactor.counts() == {"MAC addresses": 1}


def test_a_redacted_text_stays_as_it_is() -> None:
    texts = [
        "Serial Number: SERIAL0001 3c:58:c2:aa:bb:cc 192.168.1.2 2a02:8109:b6c0::1234 /home/alice 490154203237518",
        "UUID=3f2a9c1e-1b2c-4d5e-8f90-0123456789ab UUID=1A2B-3C4D 8949012345678901234",
    ]
    for text in texts:
        once = redacted(text)
        assert redacted(once) == once != text


def test_a_later_subject_can_add_what_it_knows() -> None:
    redactor = Redactor()
    redactor.add_kind(Kind("imsi", "SIM identities", lambda n: f"00101{n:010d}", re.compile("00101[0-9]{10}")))
    redactor.add_pattern(Pattern("imsi", re.compile(r"\+CIMI: (?P<secret>\d{15})")))
    redactor.add_file("imsi", re.compile("/imsi$"))
    redactor.add_key("imsi", "imsi")
    redactor.find("+CIMI: 262011234567890")
    redactor.find("262019999999999\n", "/sys/x/imsi")
    assert redactor.text('{"imsi": "262018888888888"} 262011234567890') == '{"imsi": "001010000000003"} 001010000000001'
    assert redactor.text("262019999999999\n", "/sys/x/imsi") == "001010000000002\n"
    assert redactor.counts()["SIM identities"] == 3


def test_letters_beyond_ascii_are_found_in_any_case() -> None:
    for name in ("jürgen", "JÜRGEN", "İbrahim", "Kelvin", "straße", "ǆoni"):
        redactor = Redactor()
        redactor.learn("user", name)
        assert name not in redactor.text(f"of {name}, he said")
    redactor = Redactor()
    redactor.learn("user", "Kelvin")
    assert "elvin" not in redactor.text("\u212aelvin")


@pytest.mark.parametrize("digits", ["490154203237518", "356938035643809", "79927398713"])
def test_luhn(digits: str) -> None:
    assert luhn(digits)
    assert not luhn(digits[:-1] + str((int(digits[-1]) + 1) % 10))


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_placeholder_is_known_as_one_and_differs(name: str) -> None:
    kind = KINDS[name]
    made = [kind.placeholder(number) for number in (1, 2, 9, 10, 99, 100, 254)]
    assert len(set(made)) == len(made)
    for text in made:
        assert kind.made.fullmatch(text), text
        redactor = Redactor()
        assert redactor.learn(name, text) is None


@given(st.text(max_size=200))
def test_any_text_can_be_redacted(text: str) -> None:
    redactor = Redactor()
    redactor.find(text, "/sys/x/serial")
    redactor.find(text)
    clean = redactor.text(text)
    assert isinstance(clean, str)
    assert redactor.text(text) == clean


@given(st.binary(max_size=200))
def test_any_bytes_can_be_redacted(data: bytes) -> None:
    redactor = Redactor()
    redactor.find(data.decode("utf-8", "surrogateescape"))
    redactor.data(data, "/etc/x")
