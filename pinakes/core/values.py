"""Parsers of values in a configuration file or after SET: sizes, durations, time zones, choices.

Each parser takes a value of TOML or SET (a number, a truth value, a text) and returns the parsed value, or raises
ValueError with a description of valid values. `documented` makes a dataclass field with a parser and a one-line doc.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, field, fields
from typing import Any

Parser = Callable[[object], Any]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?\Z", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|sec|min|m|h|d)?\Z", re.IGNORECASE)
_OFFSET = re.compile(r"[+-](?:0\d|1[0-4]):[0-5]\d\Z")
_TRUTH = {**dict.fromkeys(("true", "on", "yes", "1"), True), **dict.fromkeys(("false", "off", "no", "0"), False)}
_LONGEST_ZONE = 64
"""Two times the longest existing name. Far longer ones cause a RecursionError in `zoneinfo`."""
_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def documented(parse: Parser, doc: str, default: Any = MISSING, *, factory: Any = MISSING, shown: str = "") -> Any:
    """Returns a dataclass field with its parser and doc; `shown` describes a default that depends on the machine."""
    metadata = {"parse": parse, "doc": doc, "shown": shown}
    if factory is not MISSING:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


def docs_of(cls: Any) -> list[tuple[str, str, str]]:
    """Returns (name, default, doc) of every documented field, for reference pages."""
    return [(f.name, _default_of(f), f.metadata["doc"]) for f in fields(cls) if "doc" in f.metadata]


def _default_of(f: Field[Any]) -> str:
    return f.metadata["shown"] or ("" if f.default in (MISSING, None) else str(f.default))


def text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text")
    return value


def texts(value: object) -> tuple[str, ...]:
    """Parses a list of texts; a single one needs no brackets."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(item, str) and item for item in found):
        raise ValueError("a list of texts")
    return tuple(found)


def whole(least: int, most: int | None = None) -> Parser:
    """Returns a parser of integers of at least `least` and at most `most`."""
    right = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def parse(value: object) -> int:
        found = int(value) if isinstance(value, str) and re.fullmatch(r"\s*\d{1,18}\s*", value) else value
        if not isinstance(found, int) or isinstance(found, bool) or found < least or (most and found > most):
            raise ValueError(right)
        return found

    return parse


def truth(value: object) -> bool:
    """Parses a truth value, also as text: on, off, true, false, yes, no, 1, 0."""
    found = _TRUTH.get(str(value).strip().lower()) if isinstance(value, str | bool | int) else None
    if found is None:
        raise ValueError("true or false")
    return found


def one_of(*choices: str) -> Parser:
    def parse(value: object) -> str:
        found = value.lower() if isinstance(value, str) else value
        if found not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return str(found)

    return parse


def some_of(*choices: str) -> Parser:
    """Returns a parser of lists of these choices; a single one needs no brackets."""

    def parse(value: object) -> tuple[str, ...]:
        try:
            found = texts(value)
        except ValueError:
            found = ("",)
        if not set(found) <= set(choices):
            raise ValueError("a list of some of " + ", ".join(choices))
        return found

    return parse


def duration(value: object) -> float:
    """Parses seconds: a number, or a text such as 500ms, 30s, 5min, 1h."""
    if isinstance(value, str):
        found = _DURATION.match(value.strip())
        if found is not None:
            return float(found.group(1)) * _SECONDS[(found.group(2) or "s").lower()]
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise ValueError("a number of seconds, or a text such as 500ms, 30s, 5min or 1h")


def size(value: object) -> int:
    """Parses bytes: a number, or a text such as 512MB (decimal) or 1GiB (binary)."""
    if isinstance(value, str):
        found = _SIZE.match(value.strip())
        if found is not None:
            power = " kmgtp".index(found.group(2).lower() or " ")
            return int(float(found.group(1)) * (1024 if found.group(3) else 1000) ** power)
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError("a number of bytes, or a text such as 512MB or 4GiB")


def share_or_size(total: Callable[[], int]) -> Parser:
    """Returns a parser of bytes, or of a share such as 75% of `total()`."""

    def parse(value: object) -> int:
        found = re.fullmatch(r"\s*(\d{1,3})\s*%\s*", value) if isinstance(value, str) else None
        try:
            result = size(value) if found is None else total() * int(found.group(1)) // 100
        except ValueError as error:
            raise ValueError(f"{error}, or a share such as 75%") from None
        if result <= 0 or (found is not None and int(found.group(1)) > 100):
            raise ValueError("more than 0 and, as a share, at most 100%")
        return result

    return parse


def time_zone(value: object) -> str:
    """Parses a time zone: a name, returned in its usual spelling, or an offset such as +02:00."""
    name = value.strip() if isinstance(value, str) else ""
    if name == "UTC" or _OFFSET.match(name):
        return name
    found = _zone(name) if len(name) <= _LONGEST_ZONE else None
    if found is None:
        raise ValueError("the name of a time zone such as Europe/Athens, or an offset such as +02:00")
    return found


def _zone(name: str) -> str | None:
    from zoneinfo import ZoneInfo, available_timezones  # loaded only for zones other than UTC

    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):  # not found, not a name, or a directory of names
        folded = name.casefold()
        return next((zone for zone in available_timezones() if zone.casefold() == folded), None)
