"""JDBC types: the java.sql.Types code of each type, and the size of a column."""

from __future__ import annotations

from pinakes.system_tables.sql_sizes import Sizes, sizes_of

ANY_LENGTH = 2_147_483_647
"""The size of an unlimited string or binary: the largest that a driver can represent."""
_OTHER = 2000
"""JAVA_OBJECT: for types that JDBC lacks."""

CODES = {
    "boolean": 16,
    "tinyint": -6,
    "smallint": 5,
    "integer": 4,
    "bigint": -5,
    "real": 7,
    "double": 8,
    "decimal": 3,
    "varchar": 12,
    "varbinary": -3,
    "binary": -2,
    "date": 91,
    "time": 92,
    "timestamp": 93,
    "timestamp with time zone": 2014,
    "array": 2003,
    "map": _OTHER,
    "row": _OTHER,
    "uuid": _OTHER,
    "unknown": 0,
}
_DIGITS = {"tinyint": 3, "smallint": 5, "integer": 10, "bigint": 19}
_WIDTHS = {"date": 10, "time": 8, "timestamp": 19, "timestamp with time zone": 25}


def code_of(type_name: str) -> int:
    return CODES.get(sizes_of(type_name).base, _OTHER)


def size_of(type_name: str) -> int | None:
    """Returns the digits of a number, the characters of a string or of a printed time, or the bytes of a binary."""
    sizes = sizes_of(type_name)
    if sizes.base in _DIGITS:
        return _DIGITS[sizes.base]
    if sizes.base in _WIDTHS:
        return _WIDTHS[sizes.base] + (sizes.seconds + 1 if sizes.seconds else 0)
    if sizes.base in ("varchar", "varbinary"):
        return ANY_LENGTH
    return sizes.precision if sizes.precision is not None else sizes.length


def digits_of(type_name: str) -> int | None:
    """Returns the fractional digits of a number, or of the seconds."""
    sizes = sizes_of(type_name)
    return sizes.scale if sizes.scale is not None else sizes.seconds


def radix_of(type_name: str) -> int | None:
    sizes: Sizes = sizes_of(type_name)
    return 10 if sizes.base in _DIGITS else sizes.radix


def octets_of(type_name: str) -> int | None:
    return ANY_LENGTH if type_name == "varchar" else None
