"""Translates formats of dates and times to those of DataFusion, which are those of the Rust library chrono."""

from __future__ import annotations

import re

from pinakes.core.errors import NotSupportedError

_PATTERNS = {
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "MS": "%3f",
    "US": "%6f",
    "FF3": "%3f",
    "FF6": "%6f",
    "YYYY": "%Y",
    "YY": "%y",
    "IYYY": "%G",
    "IW": "%V",
    "MM": "%m",
    "DDD": "%j",
    "DD": "%d",
    "ID": "%u",
    "Q": "%q",
    "AM": "%p",
    "PM": "%p",
}
"""Patterns of PostgreSQL in upper case, which mean the same in lower case."""
_NAMES = {"MONTH": "%B", "MON": "%b", "DAY": "%A", "DY": "%a"}
_TOKEN = re.compile(
    r'"([^"]*)"|(FM)?(HH24|HH12|HH|MI|SSSSS?|SS|MS|US|FF[1-6]|IYYY|YYYY|Y,YYY|YYY|YY|IW|WW|MM|DDD|DD|ID|Q|AM|PM|'
    r"MONTH|MON|DAY|DY)(TH)?|([A-Za-z])|(.)",
    re.IGNORECASE | re.DOTALL,
)


def of_postgresql(format: str, *, reading: bool) -> str:
    """Returns a format such as YYYY-MM-DD HH24:MI:SS; `reading`: of a text that is read."""
    parts = list[str]()
    for quoted, plain, pattern, ordinal, letter, other in _TOKEN.findall(format):
        if quoted or other:
            parts.append((quoted or other).replace("%", "%%"))
        elif letter or ordinal or not pattern:
            raise _refuse(format, letter or pattern + ordinal)
        else:
            parts.append(_written(format, pattern, plain=bool(plain), reading=reading))
    return "".join(parts)


def _written(format: str, pattern: str, *, plain: bool, reading: bool) -> str:
    upper = pattern.upper()
    if upper in ("AM", "PM"):
        return "%p" if reading or pattern.isupper() else "%P"
    if upper in _NAMES:
        is_capital = pattern == pattern.capitalize()
        if not reading and (not is_capital or (upper in ("MONTH", "DAY") and not plain)):
            raise NotSupportedError(
                f"{pattern} in the format {format!r} is not supported, since PostgreSQL pads it with blanks or changes "
                f"its case: write {'FM' if upper in ('MONTH', 'DAY') else ''}{upper.capitalize()}"
            )
        return _NAMES[upper]
    if upper not in _PATTERNS or (reading and upper in ("Q", "ID", "IW", "IYYY")):
        raise _refuse(format, pattern)
    found = _PATTERNS[upper]
    if not plain or reading:
        return found
    if upper in ("MS", "US", "FF3", "FF6"):
        raise _refuse(format, f"FM{pattern}")
    return f"%-{found[1]}"


def _refuse(format: str, what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{what} in the format {format!r} is not supported: write formats as 'YYYY-MM-DD HH24:MI:SS' with other text "
        "in double quotes, or as '%Y-%m-%d %H:%M:%S'"
    )


_SPECIFIER = re.compile(r"%(-?)(.?)", re.DOTALL)
_BOTH = "aAbBdHIjmMpSyYT%"
_WRITTEN = {
    **{letter: f"%{letter}" for letter in _BOTH + "euUVwWGF"},
    "f": "%6f",
    "g": "%3f",
    "n": "%9f",
    "c": "%Y-%m-%d %H:%M:%S",
    "x": "%Y-%m-%d",
    "X": "%H:%M:%S",
}
_INSTEAD = {"i": "%M", "s": "%S", "h": "%I", "k": "%-H", "l": "%-I", "D": "%d", "L": "%g", "v": "%V"}
"""Specifiers of MySQL and Trino, and those of the same meaning here."""


def of_strftime(name: str, format: str) -> str:
    """Returns a format of strftime, as in DuckDB and Python, for a text that is written."""

    def found(match: re.Match[str]) -> str:
        flag, letter = match.groups()
        if letter not in _WRITTEN or (flag and letter not in "dHIjmMSy"):
            raise _unknown(name, match[0], letter)
        return f"%-{letter}" if flag else _WRITTEN[letter]

    return _SPECIFIER.sub(found, format)


def of_strptime(name: str, format: str) -> str:
    """Returns a format of strptime for a text that is read."""

    def found(match: re.Match[str]) -> str:
        letter = match[2]
        if letter not in _BOTH + "e":
            raise _unknown(name, match[0], letter)
        return f"%{letter}"

    parts = re.split(r"\.%[fg]", format)
    return "%.f".join(_SPECIFIER.sub(found, part) for part in parts)


def _unknown(name: str, what: str, letter: str) -> NotSupportedError:
    hint = f": write {_INSTEAD[letter]}" if letter in _INSTEAD else ", which are as in '%Y-%m-%d %H:%M:%S.%f'"
    return NotSupportedError(f"{what} is not supported in formats of {name}{hint}")


def completed(format: str) -> tuple[str, str]:
    """Returns what is added to a text and its format for the parts that it lacks: DataFusion reads no text without a
    day or a minute, and in PostgreSQL those are the first.
    """
    text, added = "", ""
    is_named = "%j" in format
    for lacks, given, value, specifier in (
        (not is_named and not _has(format, "mbBFcx"), True, " 01", " %m"),
        (not is_named and not _has(format, "deFcx"), True, " 01", " %d"),
        (not _has(format, "MTX"), _has(format, "HI"), " 00", " %M"),
    ):
        if lacks and given:
            text, added = text + value, added + specifier
    return text, added


def _has(format: str, letters: str) -> bool:
    return any(f"%{letter}" in format for letter in letters)
