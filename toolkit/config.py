"""Folders and settings.

Folders follow the XDG base directory specification. Settings are one TOML file, `config.toml`; everything works without
it, and with a home that cannot be written to. What the screens let a person choose is written back into that file with
its comments kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolkit.errors import Problem, ToolkitError
from toolkit.sensors.model import Rule

APP = "toolkit"
THEME_DEFAULT = "auto"


@dataclass(frozen=True, slots=True)
class Folders:
    """Where the program keeps things; they need not exist."""

    config: str
    state: str
    cache: str

    @property
    def config_file(self) -> str:
        """The settings."""
        return os.path.join(self.config, "config.toml")

    @property
    def recordings(self) -> str:
        """Recordings made from the screen."""
        return os.path.join(self.state, "recordings")

    @property
    def screenshots(self) -> str:
        """Screenshots made from the palette."""
        return os.path.join(self.state, "screenshots")


def folders(environ: Mapping[str, str]) -> Folders:
    """Return the folders for an environment; a relative XDG value is ignored, as the specification asks."""
    home = environ.get("HOME") or os.path.expanduser("~")

    def base(variable: str, default: str) -> str:
        value = environ.get(variable, "")
        return os.path.join(value if os.path.isabs(value) else os.path.join(home, default), APP)

    return Folders(
        config=base("XDG_CONFIG_HOME", ".config"),
        state=base("XDG_STATE_HOME", ".local/state"),
        cache=base("XDG_CACHE_HOME", ".cache"),
    )


@dataclass(frozen=True, slots=True)
class TemperatureSettings:
    """The table `[temperatures]`. Sensors are named by their id (see `toolkit temps --json`).

    Attributes:
        interval_s: seconds between two looks of the screen, 0.05 to 60.
        rule: how the headline is folded.
        read_disks: read drivetemp too, which may keep a disk from spinning down.
        hidden, pinned: ids of sensors.
        names: id -> the name that a person gave.
        thresholds: id -> value in the sensor's unit above which a notification is shown.
        history_minutes: what the graph shows: 1, 10 or 60.
    """

    interval_s: float = 1.0
    rule: Rule = Rule.BEST
    read_disks: bool = False
    hidden: frozenset[str] = frozenset()
    pinned: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    history_minutes: int = 10

    def without_sensors(self) -> TemperatureSettings:
        """Return the same without what was chosen for single sensors, for a machine that has others."""
        return TemperatureSettings(self.interval_s, self.rule, self.read_disks, history_minutes=self.history_minutes)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a person can set. `problems` names each key that was wrong; its default stands then."""

    theme: str = THEME_DEFAULT
    temperatures: TemperatureSettings = TemperatureSettings()
    problems: tuple[Problem, ...] = field(default=(), compare=False)


def load_settings(environ: Mapping[str, str]) -> Settings:
    """Read config.toml. Never raises: what is wrong with it stands in `problems`."""
    path = folders(environ).config_file
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        return Settings(problems=(Problem(path, f"cannot be read: {error.strerror}"),))
    import tomllib

    try:
        return parse_settings(tomllib.loads(data.decode("utf-8")), path)
    except UnicodeDecodeError:
        return Settings(problems=(Problem(path, "is not UTF-8 text", "the defaults are used"),))
    except tomllib.TOMLDecodeError as error:
        return Settings(problems=(Problem(path, f"is not valid TOML: {error}", "the defaults are used"),))


def parse_settings(table: Mapping[str, Any], path: str) -> Settings:
    """Turn a TOML table into settings; each wrong key becomes a Problem that names file and key."""
    reader = _Reader(path)
    theme = reader.take(table, "theme", "", _as_word, THEME_DEFAULT)
    sub = table.get("temperatures", {})
    if not isinstance(sub, Mapping):
        reader.complain("temperatures", "must be a table, [temperatures]")
        sub = {}
    prefix = "temperatures."
    default = TemperatureSettings()
    temperatures = TemperatureSettings(
        interval_s=reader.take(sub, "interval_s", prefix, _as_interval, default.interval_s),
        rule=reader.take(sub, "rule", prefix, _as_rule, default.rule),
        read_disks=reader.take(sub, "read_disks", prefix, _as_bool, default.read_disks),
        hidden=frozenset(reader.take(sub, "hidden", prefix, _as_words, ())),
        pinned=tuple(reader.take(sub, "pinned", prefix, _as_words, ())),
        names=reader.take(sub, "names", prefix, _as_names, {}),
        thresholds=reader.take(sub, "thresholds", prefix, _as_numbers, {}),
        history_minutes=reader.take(sub, "history_minutes", prefix, _as_minutes, default.history_minutes),
    )
    reader.complain_about_unknown(table, {"theme", "temperatures"}, "")
    reader.complain_about_unknown(sub, set(TemperatureSettings.__dataclass_fields__), prefix)
    return Settings(theme=theme, temperatures=temperatures, problems=tuple(reader.problems))


_V = TypeVar("_V")


def save_settings(environ: Mapping[str, str], settings: Settings, before: Settings | None = None) -> Settings:
    """Write the settings into config.toml, comments and unknown keys kept, and return what is there now.

    Args:
        before: what `settings` were made from. Only what differs is changed in the file, so that another toolkit that
            runs meanwhile loses nothing. None writes all of them.

    Raises ToolkitError where it cannot be written, or where the file is not valid TOML now (it is left alone then).
    """
    import tempfile

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = folders(environ).config_file
    try:
        try:
            with open(path, encoding="utf-8") as file:
                document = tomlkit.parse(file.read())
        except FileNotFoundError:
            document = tomlkit.document()
        if before is not None:
            settings = _merged(before, settings, parse_settings(document.unwrap(), path))
        _merge(document, _as_table(settings), _as_table(Settings()))
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        target = os.path.realpath(path)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".config-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(tomlkit.dumps(document))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise ToolkitError(
            f"{path} is not valid TOML, so nothing was saved: {error}", "mend it, then choose again"
        ) from error
    except OSError as error:
        raise ToolkitError(
            f"the choice cannot be kept: {path}: {error.strerror}", "it holds until the program ends"
        ) from error
    return settings


def _merged(before: Settings, after: Settings, there: Settings) -> Settings:
    """Return the settings of the file with every change from `before` to `after` made to them."""
    old, new, now = before.temperatures, after.temperatures, there.temperatures
    temperatures = TemperatureSettings(
        interval_s=new.interval_s if new.interval_s != old.interval_s else now.interval_s,
        rule=new.rule if new.rule != old.rule else now.rule,
        read_disks=new.read_disks if new.read_disks != old.read_disks else now.read_disks,
        hidden=(now.hidden | (new.hidden - old.hidden)) - (old.hidden - new.hidden),
        pinned=_merged_list(old.pinned, new.pinned, now.pinned),
        names=_merged_table(old.names, new.names, now.names),
        thresholds=_merged_table(old.thresholds, new.thresholds, now.thresholds),
        history_minutes=new.history_minutes if new.history_minutes != old.history_minutes else now.history_minutes,
    )
    theme = after.theme if after.theme != before.theme else there.theme
    return Settings(theme, temperatures, after.problems)


def _merged_list(old: tuple[str, ...], new: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(key for key in now if key in new or key not in old)
    return (*kept, *(key for key in new if key not in old and key not in kept))


def _merged_table(old: Mapping[str, _V], new: Mapping[str, _V], now: Mapping[str, _V]) -> dict[str, _V]:
    changed = {key: value for key, value in new.items() if old.get(key) != value}
    return {key: value for key, value in now.items() if key in new or key not in old} | changed


def _as_table(settings: Settings) -> dict[str, Any]:
    t = settings.temperatures
    return {
        "theme": settings.theme,
        "temperatures": {
            "interval_s": t.interval_s,
            "rule": t.rule.value,
            "read_disks": t.read_disks,
            "history_minutes": t.history_minutes,
            "hidden": sorted(t.hidden),
            "pinned": list(t.pinned),
            "names": dict(t.names),
            "thresholds": dict(t.thresholds),
        },
    }


def _merge(document: Any, table: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Put values into a TOML document; what equals its default is written only where the key stands there already."""
    for key, value in table.items():
        if isinstance(value, Mapping) and isinstance(defaults.get(key), Mapping) and defaults[key]:
            if key not in document and value != defaults[key]:
                import tomlkit

                document[key] = tomlkit.table()
            if key in document and isinstance(document[key], Mapping):
                _merge(document[key], value, defaults[key])
        elif key in document:
            if document[key] != value:
                document[key] = value
        elif value != defaults[key]:
            document[key] = value


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []

    def complain(self, key: str, reason: str) -> None:
        self.problems.append(Problem(self.path, f"{key}: {reason}"))

    def take(self, table: Mapping[str, Any], key: str, prefix: str, convert: Any, default: Any) -> Any:
        if key not in table:
            return default
        try:
            return convert(table[key])
        except ValueError as error:
            self.complain(prefix + key, f"{error}; the default is used")
            return default

    def complain_about_unknown(self, table: Mapping[str, Any], known: set[str], prefix: str) -> None:
        for key in table:
            if key not in known:
                import difflib

                near = difflib.get_close_matches(key, known, 1)
                self.complain(prefix + str(key), "unknown key" + (f", do you mean {near[0]}?" if near else ""))


def _as_word(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a text in quotes")
    return value


def _as_bool(value: object) -> bool:
    if value is not True and value is not False:
        raise ValueError("must be true or false")
    return value


def _as_rule(value: object) -> Rule:
    for rule in Rule:
        if value == rule.value:
            return rule
    raise ValueError('must be "best" or "tctl"')


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        raise ValueError("must be a number")
    return float(value)


def _as_interval(value: object) -> float:
    number = _as_number(value)
    if not 0.05 <= number <= 60.0:
        raise ValueError("must be 0.05 to 60 seconds")
    return number


def _as_minutes(value: object) -> int:
    if value not in (1, 10, 60) or isinstance(value, bool):
        raise ValueError("must be 1, 10 or 60")
    return int(value)


def _as_words(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError("must be a list of texts")
    return value


def _as_names(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) and name for name in value.values()):
        raise ValueError("must be a table of texts")
    return {str(key): str(name) for key, name in value.items()}


def _as_numbers(value: object) -> dict[str, float]:
    numbers = value.items() if isinstance(value, Mapping) else None
    if numbers is None:
        raise ValueError("must be a table of numbers")
    found = {}
    for key, number in numbers:
        try:
            found[str(key)] = _as_number(number)
        except ValueError as error:
            raise ValueError(f'"{key}" {error}') from None
    return found
