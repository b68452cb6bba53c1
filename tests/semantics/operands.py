"""The types of the matrix, and values of each that are likely to be computed wrongly: limits, NaN, far dates, NULL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Value:
    """One value of a type. A column of the table of values has its name."""

    name: str
    text: str | None
    """The value as PostgreSQL reads it; None for NULL."""
    python: Any
    """The value as a parameter."""
    literal: str
    """The value as written in SQL, the same in both engines."""


@dataclass(frozen=True)
class Kind:
    """A type: its name in the matrix and in SQL, and its values."""

    name: str
    sql: str
    values: tuple[Value, ...]
    literals: bool = True
    columns: bool = True
    parameters: bool = True
    postgres: str = field(default="")

    @property
    def postgres_sql(self) -> str:
        return self.postgres or self.sql


def _kind(
    name: str,
    sql: str,
    texts: str | tuple[str, ...],
    python: Callable[[str], Any],
    literal: Callable[[str], str],
    **options: Any,
) -> Kind:
    given = texts.split() if isinstance(texts, str) else texts
    values = [Value(f"{name}_{i}", text, python(text), literal(text)) for i, text in enumerate(given)]
    null = Value(f"{name}_null", None, None, f"CAST(NULL AS {sql})")
    return Kind(name, sql, (*values, null), **options)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _typed(sql: str) -> Callable[[str], str]:
    return lambda text: f"{sql} {_quoted(text)}"


def _cast(sql: str) -> Callable[[str], str]:
    return lambda text: f"CAST({_quoted(text)} AS {sql})"


def _plain(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _aware(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


_LONG = "long " * 400

BOOLEAN = _kind("bool", "BOOLEAN", "true false", lambda t: t == "true", str.upper)
SMALL = _kind("small", "INT", "-3 -1 0 1 2 3 9", int, _plain)
INT = _kind("int", "INT", "0 1 -1 2 7 -7 2147483647 -2147483648", int, _plain)
BIGINT = _kind(
    "bigint",
    "BIGINT",
    "0 5 -3 9007199254740993 9223372036854775807 -9223372036854775808",
    int,
    _plain,
)
DECIMAL = _kind("dec", "DECIMAL(10,2)", "0.00 4.40 4.07 -1.50 2.50 7.00 99999999.99 -99999999.99", Decimal, _plain)
WHOLE = _kind(
    "dec38",
    "DECIMAL(38,0)",
    f"0 5 -5 9007199254740993 {'9' * 38} -{'9' * 38}",
    Decimal,
    _plain,
)
FINE = _kind(
    "decfine",
    "DECIMAL(38,10)",
    "0.5000000000 -2.5000000001 0.0000000001 1234567890123456789012345678.0123456789",
    Decimal,
    _plain,
)
REAL = _kind(
    "real",
    "REAL",
    "0 1.5 -0.0 0.1 2.5 -7 16777216 NaN Infinity -Infinity 3.4028235e38 1e-38",
    float,
    _cast("REAL"),
    parameters=False,
)
DOUBLE = _kind(
    "double",
    "DOUBLE PRECISION",
    "0 1.5 -0.0 0.1 2.5 -2.5 7 -7 4.4 9007199254740992 NaN Infinity -Infinity 1.7976931348623157e308 1e300 5e-324",
    float,
    _cast("DOUBLE PRECISION"),
)
TEXT = _kind(
    "text",
    "VARCHAR",
    ("", "abc", "ABC", " a b ", "é日本", "5", "-3", "1.50", "true", "2024-02-29", "NaN", "a,b,,c", "xxabcxx", _LONG),
    str,
    _quoted,
)
DATE = _kind(
    "date",
    "DATE",
    "1970-01-01 2024-02-29 2024-01-31 2023-12-31 1969-12-31 1900-03-01 9999-12-31 0001-01-01",
    date.fromisoformat,
    _typed("DATE"),
)
TIME = _kind("time", "TIME", "00:00:00 12:34:56.789012 23:59:59.999999", time.fromisoformat, _typed("TIME"))
TIMESTAMP = _kind(
    "ts",
    "TIMESTAMP",
    (
        "1970-01-01 00:00:00",
        "2024-02-29 12:34:56.789012",
        "2024-01-31 00:00:00",
        "1969-12-31 23:59:59.999999",
        "1900-03-01 00:00:00",
        "9999-12-31 23:59:59",
        "0001-01-01 00:00:00",
    ),
    datetime.fromisoformat,
    _typed("TIMESTAMP"),
)
TIMESTAMPTZ = _kind(
    "tstz",
    "TIMESTAMP WITH TIME ZONE",
    (
        "1970-01-01 00:00:00+00:00",
        "2024-02-29 12:34:56.789012+00:00",
        "2024-07-01 01:00:00+02:00",
        "1969-12-31 23:59:59.999999+00:00",
        "9999-12-31 23:59:59+00:00",
    ),
    _aware,
    _cast("TIMESTAMP WITH TIME ZONE"),
)
_DURATIONS = {
    "0 days": timedelta(),
    "1 day": timedelta(days=1),
    "-1 day": timedelta(days=-1),
    "24 hours": timedelta(days=1),
    "30 days": timedelta(days=30),
    "7 days 01:02:03.5": timedelta(days=7, hours=1, minutes=2, seconds=3.5),
}
INTERVAL = _kind(
    "interval",
    "INTERVAL",
    tuple(_DURATIONS),
    _DURATIONS.__getitem__,
    _typed("INTERVAL"),
    columns=False,
)
MONTHS = _kind(
    "months",
    "INTERVAL",
    ("1 month", "-1 month", "1 year 2 months 3 days 04:05:06.5"),
    str,
    _typed("INTERVAL"),
    columns=False,
    parameters=False,
)
UUIDS = _kind(
    "uuid",
    "UUID",
    "123e4567-e89b-12d3-a456-426614174000 00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff",
    UUID,
    _typed("UUID"),
)
BYTES = _kind(
    "bytes",
    "BYTEA",
    (r"\x", r"\x00ff", r"\x616263"),
    lambda text: bytes.fromhex(text[2:]),
    lambda text: f"decode('{text[2:]}', 'hex')",
)

KINDS = (
    BOOLEAN,
    INT,
    BIGINT,
    DECIMAL,
    WHOLE,
    FINE,
    REAL,
    DOUBLE,
    TEXT,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    INTERVAL,
    MONTHS,
    UUIDS,
    BYTES,
)
STORED = (SMALL, *(kind for kind in KINDS if kind.columns))
"""The kinds that are columns of the tables."""
