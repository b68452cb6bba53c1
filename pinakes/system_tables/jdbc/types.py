"""system.jdbc.types: one row per type that a column can have (DatabaseMetaData.getTypeInfo)."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import NUMBER, TEXT, TRUTH, Column, Request, SystemTable, always_null
from pinakes.system_tables.jdbc_types import CODES, radix_of, size_of

_QUOTED = frozenset({"varchar", "uuid"})
_NUMBERS = frozenset({"tinyint", "smallint", "integer", "bigint", "real", "double", "decimal"})
_PARAMETERS = {
    "decimal": "precision,scale",
    "binary": "length",
    "time": "precision",
    "timestamp": "precision",
    "timestamp with time zone": "precision",
}
_PREFIXES = {"date": "DATE '", "time": "TIME '", "timestamp": "TIMESTAMP '", "varbinary": "X'", "binary": "X'"}
_SCALES = {"decimal": 38, "time": 6, "timestamp": 9, "timestamp with time zone": 9}


def _rows(_: Request) -> Iterable[str]:
    return _names()


def _names() -> list[str]:
    return sorted((t for t in CODES if t != "unknown"), key=lambda t: (CODES[t], t))


def _prefix(name: str) -> str | None:
    return "'" if name in _QUOTED else _PREFIXES.get(name)


def _suffix(name: str) -> str | None:
    return "'" if _prefix(name) else None


TABLE: SystemTable[str] = SystemTable(
    name="types",
    doc="One row per type that a column can have.",
    columns=(
        Column("type_name", TEXT, "Name of the type", lambda t: t),
        Column("data_type", NUMBER, "Constant of java.sql.Types", lambda t: CODES[t]),
        Column(
            "precision",
            NUMBER,
            "Maximum number of digits, characters or bytes",
            lambda t: 38 if t == "decimal" else size_of(t),
        ),
        Column("literal_prefix", TEXT, "Prefix of a literal", _prefix),
        Column("literal_suffix", TEXT, "Suffix of a literal", _suffix),
        Column("create_params", TEXT, "Parameters of the type", lambda t: _PARAMETERS.get(t)),
        Column("nullable", NUMBER, "Always 1: values can be NULL", lambda _: 1),
        Column("case_sensitive", TRUTH, "Whether comparisons are case-sensitive", lambda t: t == "varchar"),
        Column("searchable", NUMBER, "3 if LIKE can be used, else 2", lambda t: 3 if t == "varchar" else 2),
        Column("unsigned_attribute", TRUTH, "False for numbers, which are signed", lambda t: t not in _NUMBERS),
        Column("fixed_prec_scale", TRUTH, "Always false; there is no money type", lambda _: False),
        Column("auto_increment", TRUTH, "Always false", lambda _: False),
        always_null("local_type_name", TEXT),
        Column(
            "minimum_scale",
            NUMBER,
            "Minimum number of digits after the decimal point, or of fractional seconds",
            lambda t: 0 if t in _SCALES else None,
        ),
        Column(
            "maximum_scale",
            NUMBER,
            "Maximum number of digits after the decimal point, or of fractional seconds",
            lambda t: _SCALES.get(t),
        ),
        always_null("sql_data_type", NUMBER),
        always_null("sql_datetime_sub", NUMBER),
        Column(
            "num_prec_radix", NUMBER, "Base of the digits: 2 or 10", lambda t: 10 if t == "decimal" else radix_of(t)
        ),
    ),
    items=_rows,
)


def type_rows() -> list[dict[str, object]]:
    """Returns the same rows for callers outside SQL; they do not depend on the session."""
    return [{column.name: column.value(name) for column in TABLE.columns} for name in _names()]
