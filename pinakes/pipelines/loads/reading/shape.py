"""Records in the shape of the table, each with the reason why it is bad, if it is.

A frame of records has the columns v0, v1, … in the order of the table's columns, and in addition the source of the
record (FILE), its original text (RAW), the reason why it is bad (REASON; NULL for a good one), and a field that has no
column in the table (EXTRA).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinakes.core.errors import NotSupportedError
from pinakes.engine.remote.text import quoted, quoted_text

FILE, RAW, REASON, EXTRA = "__pinakes_file", "__pinakes_raw", "__pinakes_reason", "__pinakes_extra"
CORRUPT = "__pinakes_corrupt"
_SHOWN = 100
_DATE = r"^\\s*[+-]?[0-9]{4,7}-[0-9]{1,2}-[0-9]{1,2}\\s*$"
_ZEROES = {"string": "''", "boolean": "false", "date": "DATE'1970-01-01'", "binary": "X''"}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; `type` is Spark's name of the type."""

    name: str
    type: str
    nullable: bool = True

    @property
    def sql(self) -> str:
        return f"{quoted(self.name)} {self.type}{'' if self.nullable else ' NOT NULL'}"


def columns_of(schema: Any) -> list[Column]:
    """Returns the columns of a Spark schema."""
    return [Column(f.name, f.dataType.simpleString(), f.nullable) for f in schema.fields]


def from_text(source: str, type: str, options: Mapping[str, str]) -> str:
    """Returns the SQL that parses a text into a type; the result is NULL if the text is invalid."""
    if type == "string":
        return source
    if type == "date":
        return _date(source, options.get("dateFormat"))
    if type in ("timestamp", "timestamp_ntz") and "timestampFormat" in options:
        return f"try_cast(try_to_timestamp({source}, {quoted_text(options['timestampFormat'])}) AS {type})"
    if type == "binary":
        digits = f"try_to_binary(substring({source}, 3), 'hex')"
        return f"CASE WHEN startswith({source}, '\\\\x') THEN {digits} ELSE to_binary({source}, 'utf-8') END"
    if type.startswith(("array", "map", "struct", "variant")):
        raise NotSupportedError(f"a field of a CSV file holds no {type}: load it as STRING")
    return f"try_cast({source} AS {type})"


def _date(source: str, format: str | None) -> str:
    """Returns the SQL that parses a date. Without a format the text must contain nothing after the date, which Spark
    would ignore silently."""
    if format is not None:
        return f"try_cast(try_to_timestamp({source}, {quoted_text(format)}) AS date)"
    return f"CASE WHEN {source} RLIKE '{_DATE}' THEN try_cast({source} AS date) END"


def misfit_branches(column: Column, source: str, value: str, shown: str) -> list[str]:
    """Returns CASE branches that yield the reason why a value is bad. `source` is the original value, `shown` its
    text."""
    found = []
    if source != value:
        words = f"left({shown}, {_SHOWN})"
        begin, end = quoted_text(f"column '{column.name}': '"), quoted_text(f"' is not a valid {column.type.upper()}")
        found.append(f"WHEN {source} IS NOT NULL AND {value} IS NULL THEN concat({begin}, {words}, {end})")
    if not column.nullable:
        missing = quoted_text(f"column '{column.name}' is NOT NULL, and there is no value")
        found.append(f"WHEN {value} IS NULL THEN {missing}")
    return found


def reason_sql(branches: Sequence[str]) -> str:
    return f"CASE {' '.join(branches)} END" if branches else "CAST(NULL AS string)"


def to_records(read: Any, columns: Sequence[Column], file: str) -> Any:
    """Returns typed records in the shape of the table; `file` is the SQL expression of their source."""
    theirs = columns_of(read.schema)
    names = [column.name for column in theirs]
    raw = f"to_json(struct({', '.join(map(quoted, names))})) AS {RAW}"
    given = read.selectExpr(*(f"{quoted(name)} AS c{at}" for at, name in enumerate(names)), raw, f"{file} AS {FILE}")
    values, branches = [], []
    for at, column in enumerate(columns):
        where = position(column.name, names)
        if where is None:
            values.append(f"CAST(NULL AS {column.type}) AS v{at}")
        elif theirs[where].type == column.type:
            values.append(f"c{where} AS v{at}")
        else:
            values.append(f"try_cast(c{where} AS {column.type}) AS v{at}")
        source = f"v{at}" if where is None or theirs[where].type == column.type else f"c{where}"
        branches += misfit_branches(column, source, f"v{at}", f"CAST({source} AS string)")
    ours = [f"v{at}" for at in range(len(columns))]
    why = f"{reason_sql(branches)} AS {REASON}"
    return given.selectExpr("*", *values).selectExpr(*ours, FILE, why, RAW, f"CAST(NULL AS string) AS {EXTRA}")


def position(name: str, names: Sequence[str]) -> int | None:
    """Returns the position of a table column among the columns of a file: by exact name, or by the only name that
    differs in case."""
    if name in names:
        return names.index(name)
    alike = [at for at, found in enumerate(names) if found.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


def select_good(frame: Any, columns: Sequence[Column]) -> Any:
    """Returns the good records as rows of the table."""
    return frame.filter(f"{REASON} IS NULL").selectExpr(*(_column_sql(at, column) for at, column in enumerate(columns)))


def _column_sql(at: int, column: Column) -> str:
    """Returns the SQL of a column. Spark must see that a NOT NULL column is never NULL; the default value is never used
    for a good record."""
    value = f"v{at}"
    if not column.nullable:
        value = f"coalesce(v{at}, {_zero(column)})"
    return f"{value} AS {quoted(column.name)}"


def _zero(column: Column) -> str:
    if column.type.startswith(_NUMBERS):
        return f"CAST(0 AS {column.type})"
    if column.type.startswith("timestamp"):
        return f"CAST(TIMESTAMP'1970-01-01 00:00:00' AS {column.type})"
    if column.type not in _ZEROES:
        raise NotSupportedError(
            f"column '{column.name}' is {column.type} NOT NULL, which can't be loaded. Drop NOT NULL."
        )
    return _ZEROES[column.type]
