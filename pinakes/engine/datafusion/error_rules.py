"""The table of DataFusion's messages: patterns, each with the error that a user gets for it.

`engine/datafusion/error_translation.py` uses it, after removing the names of layers from the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pinakes.core.errors import (
    AmbiguousName,
    ColumnExists,
    ColumnNotFound,
    DataCorrupt,
    ExecutionError,
    FunctionNotFound,
    InvalidArgument,
    NotSupportedError,
    NumericOutOfRange,
    OutOfMemory,
    PinakesError,
    TableNotFound,
    TypeMismatch,
)
from pinakes.core.suggestions import closest_by_edits, did_you_mean
from pinakes.engine.datafusion.function_meanings import MEANINGS

_CLAUSES = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "UNION", "SELECT")


def by_rule(text: str) -> PinakesError | None:
    """The error that a message of DataFusion's means; None for one that no rule knows."""
    for pattern, make in _RULES:
        found = pattern.search(text)
        if found:
            return make(found, text)
    return None


def column_or_text(error: ColumnNotFound, statement: str) -> ColumnNotFound:
    """One that stands in double quotes in the statement may have been meant as a text."""
    found = re.match(r"column (.+?) does not exist", error.message)
    if found is None or f'"{found.group(1)}"' not in statement:
        return error
    advice = f"{error.message.rstrip('?.')}. A text has single quotes: '{found.group(1)}'."
    return ColumnNotFound(advice, position=error.position)


def misspelt(syntax_error: str) -> str:
    """What a word was meant to be that the parser did not expect: `SELECT * FORM t`."""
    found = re.search(r"found: (\w+)$", syntax_error.strip())
    if found is None or found.group(1).upper() in _CLAUSES:
        return ""
    hint = did_you_mean(found.group(1), _CLAUSES)
    return f".{hint}" if hint else ""


_SYNTAX_TREE = re.compile(r" ?\{.*", re.DOTALL)
"""A piece of DataFusion's own syntax tree within a message."""


def _unqualified(fields: str) -> str:
    """DataFusion's list of valid fields with the table in front of each dropped when there is only one table."""
    parts = re.findall(r'(?:(?:"(?:[^"]|"")*"|[^\s",.]+)\.)*(?:"(?:[^"]|"")*"|[^\s",.]+)', fields)
    split = [re.findall(r'"(?:[^"]|"")*"|[^\s",.]+', p) for p in parts]
    split = [p for p in split if not p[-1].startswith('"$pinakes')]  # a change adds where each row stands
    tables = {tuple(p[:-1]) for p in split}
    own = len(tables) <= 1
    shown = [p[-1] if own or p[-2:-1] == ['"$target"'] else ".".join(p[-2:]) for p in split]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")


def _signatures(text: str) -> str:
    """A function's complaint about its arguments, each accepted type named once and without the layers' names."""
    wanted = dict.fromkeys(re.findall(r"requires ([A-Za-z0-9]+), but received", text))
    given = re.search(r"but received (.+?)\.", text)
    if not wanted or given is None:
        return text
    return f"{text.split(' failed to match')[0]} takes {', '.join(wanted)}, not {given.group(1)}; add explicit casts"


def _column(found: re.Match[str], _text: str) -> PinakesError:
    missing, fields = found.group(1), found.group("fields")
    missing = missing.replace('"', "") if missing.count(".") == 0 else missing
    if not fields:
        return ColumnNotFound(f"column {missing} does not exist; no columns are in scope here")
    known = _unqualified(fields)
    hint = did_you_mean(missing.rsplit(".", 1)[-1], (name.rsplit(".", 1)[-1] for name in known.split(", ")))
    return ColumnNotFound(f"column {missing} does not exist; there is {known}{f'.{hint}' if hint else ''}")


_SQL_NAMES = {
    **dict.fromkeys(("Utf8", "Utf8View", "LargeUtf8"), "varchar"),
    **dict.fromkeys(("Binary", "BinaryView", "LargeBinary"), "varbinary"),
    **dict.fromkeys(("Date32", "Date64"), "date"),
    **dict.fromkeys(("Time32", "Time64"), "time"),
    "Boolean": "boolean",
    "Int8": "tinyint",
    "Int16": "smallint",
    "Int32": "integer",
    "Int64": "bigint",
    "Float32": "real",
    "Float64": "double",
}
_ARROW_TYPE = re.compile(rf"\b({'|'.join(_SQL_NAMES)})\b")


def _in_sql(text: str) -> str:
    """Arrow's names of types as SQL has them."""
    return _ARROW_TYPE.sub(lambda found: _SQL_NAMES[found.group()], text)


def _out_of_range(type: str, value: str) -> PinakesError:
    name = type.lower().replace(", ", ",").replace("decimal128", "decimal") if "(" in type else _in_sql(type)
    return NumericOutOfRange(f"{name} out of range: {value}")


def _not_grouped(found: re.Match[str], _text: str) -> PinakesError:
    column = found.group(1).replace('"', "").rsplit(".", 1)[-1]
    return InvalidArgument(
        f"column {column} is neither in GROUP BY nor in an aggregate: add it to GROUP BY, or write max({column})"
    )


def _suggested(name: str) -> str:
    """Returns the end of the error for an unknown function: one of the same meaning, or of a similar name."""
    from pinakes.engine.datafusion.functions import functions  # only on errors

    meant = MEANINGS.get(name.lower())
    if meant is not None:
        return f": write {meant}"
    close = closest_by_edits(name, (function.name for function in functions()))
    return f"; did you mean {close}?" if close else "; SHOW FUNCTIONS lists those that do"


def _unsupported_type(name: str) -> str:
    from pinakes.core.types.sql import TYPES_INSTEAD  # only on errors

    instead = TYPES_INSTEAD.get(name.strip().upper())
    return f"the type {name.strip()} is not supported{f': use {instead}' if instead else ''}"


_REPEATED = re.compile(
    r'Projections require unique expression names but the expression "(?:.* AS (?P<alias>.*?)|(?P<column>.*?))"'
    r" at position"
    r'|Schema contains qualified field name \S+ and unqualified field name (?P<either>"(?:[^"]|"")*"|\S+)',
    re.DOTALL,
)


def repeated_column(error: PinakesError) -> str | None:
    """The name that two columns of a projection have, if that is the error."""
    found = _REPEATED.search(str(error.__cause__))
    if found is None:
        return None
    name = found["alias"] or found["column"] or found["either"]
    if found["alias"]:
        return str(name)
    quoted = re.search(r'"((?:[^"]|"")*)"\Z', name)
    return quoted[1].replace('""', '"') if quoted else str(name.rsplit(".", 1)[-1])


_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str], str], PinakesError]]] = [
    (
        re.compile(
            r"No field named (.+?)\.(?: Did you mean .*?\?)?\s*"
            r"(?:Column names are case sensitive\..*?configuration\.)?\s*"
            r"(?:Valid fields are (?P<fields>.*?)\.)?\s*$",
            re.S,
        ),
        _column,
    ),
    (
        re.compile(r"Field (.+) not found in struct"),
        lambda m, _: ColumnNotFound(f"field {m.group(1)} does not exist in the struct; DESCRIBE shows those that do"),
    ),
    (
        re.compile(r"For SELECT DISTINCT, ORDER BY expressions .* must appear in select list"),
        lambda _m, _t: InvalidArgument(
            "the rows of SELECT DISTINCT can only be ordered by columns of the result. Name them as it does, or "
            "by their numbers: ORDER BY 1"
        ),
    ),
    (
        re.compile(r"Invalid function '([^']+)'\.?\s*(?:Did you mean '([^']+)'\?)?", re.S),
        lambda m, _: FunctionNotFound(f"function {m.group(1)} does not exist{_suggested(m.group(1))}"),
    ),
    (
        re.compile(r"table function '([^']+)' not found"),
        lambda m, _: FunctionNotFound(
            f"table function {m.group(1)} does not exist; files are read by read_parquet, read_csv, read_json, "
            f"read_arrow, read_avro, read_orc and read_xlsx"
        ),
    ),
    (
        # DataFusion 55 reckons that a condition on a cast leaves more rows than there are, and stops.
        re.compile(r"Selectivity is out of limit"),
        lambda _m, _t: NotSupportedError(
            "DataFusion can't plan a comparison with a timestamp that is cast to a date, where all times are within a "
            "day or so of it. Write to_date(ts) < … in place of CAST(ts AS DATE) < …, or compare ts itself"
        ),
    ),
    (
        re.compile(r"Arguments must be literals"),
        lambda _m, _t: NotSupportedError(
            "the arguments of a table function must be written out: parameters and columns are not supported there"
        ),
    ),
    (
        re.compile(r"Invalid schema, multiple fields for name (.+): \d+ and \d+$", re.S),
        lambda m, _: ColumnExists(
            f"two fields of the table would be {m.group(1)}: in Iceberg a dot stands between a column and a field "
            f"within it, so that a column with a dot in its name may be the same. Give one of them another name"
        ),
    ),
    (re.compile(r"table '([^']+)' not found"), lambda m, _: TableNotFound(f"table {m.group(1)} does not exist")),
    (
        re.compile(r"Ambiguous reference to (?:unqualified|qualified) field (\S+)"),
        lambda m, _: AmbiguousName(f"column {m.group(1)} is ambiguous: say which table it belongs to"),
    ),
    (
        re.compile(r"Cannot access field at argument 1: type (\w+)\S* is not Struct, Map, or Null"),
        lambda m, _: TypeMismatch(
            f"a value of type {m.group(1)} has no fields. If the name before the point is a table of the outer query, "
            f"the subquery has a column of that name: give the table another alias"
        ),
    ),
    (
        re.compile(r"Cannot cast timezone to different timezone|error computing timezone offset"),
        lambda _m, _t: NotSupportedError(
            "a local time that does not exist or exists twice, because clocks are changed at that time, is not "
            "supported. Give its offset from UTC: TIMESTAMPTZ '2024-03-31 02:30:00+01:00', or AT TIME ZONE '+01:00'"
        ),
    ),
    (
        re.compile(r"does not satisfy order requirements"),
        lambda _m, _t: NotSupportedError(
            "DataFusion can't plan the order of this window: compute the expression in a subquery, and order by its "
            "column"
        ),
    ),
    (
        re.compile(r'Projections require unique expression names but the expression "(?:.* AS )?(.*?)" at position'),
        lambda m, _: InvalidArgument(
            f"two columns of the result have the name {m.group(1)}: give one of them another, with AS"
        ),
    ),
    (
        re.compile(r"used disk space during the spilling process has exceeded the allowable limit of ([\d.]+ \w+)"),
        lambda m, _: OutOfMemory(
            f"what does not fit into memory would take more than {m.group(1)} on the disk, which is the most that a "
            f"session may have there. Raise memory_limit in the configuration."
        ),
    ),
    (
        re.compile(r"Resources exhausted|memory pool|Failed to allocate"),
        lambda _, t: OutOfMemory(
            f"{t.splitlines()[0]}. In fewer parts a query spills more and needs less at once: "
            f"SET target_partitions = 1, or raise memory_limit in the configuration."
        ),
    ),
    (
        re.compile(r"No space left on device|File too large|Disk quota exceeded|os error (?:28|27|122)\b"),
        lambda _, t: OutOfMemory(f"the disk is full: {t.splitlines()[0]}"),
    ),
    (
        re.compile(
            r"does not support logical expression (?:ScalarSubquery|Exists|InSubquery|OuterReferenceColumn)"
            r"|Correlated scalar subquery (?:must be aggregated|can only be used)"
            r"|Schema contains qualified field name (\S+) and unqualified field name (\S+)"
        ),
        lambda m, _: NotSupportedError(
            "this subquery cannot be planned where it stands: it, or the query around it, may give other rows each "
            "time (random(), LIMIT, windows), or has a form that is not supported together with columns of an outer "
            "query. Write it as a join."
            + (
                f" If it has UNNEST(…) AS u({m.group(2)}), give that column another name than {m.group(1)} has."
                if m.group(1)
                else ""
            )
        ),
    ),
    (
        re.compile(r"This feature is not implemented: Unsupported SQL type ([\w ]+)"),
        lambda m, _: NotSupportedError(_unsupported_type(m.group(1))),
    ),
    (
        re.compile(r"This feature is not implemented: (.*)", re.S),
        lambda m, _: NotSupportedError(_SYNTAX_TREE.sub(" …", m.group(1).splitlines()[0])),
    ),
    (
        re.compile(r"No function matches the given name and argument types '([^']*)'"),
        lambda m, _: TypeMismatch(f"no function {m.group(1)}: its arguments have other types; add explicit casts"),
    ),
    (
        re.compile(
            r"failed to match any signature|[Cc]annot coerce|Cannot infer common|does not support zero arguments"
        ),
        lambda _, t: TypeMismatch(_in_sql(_signatures(t.splitlines()[0]))),
    ),
    (
        re.compile(
            r"dates that can be represented as nanoseconds|"
            r"to Timestamp\(ns.*\): converted value exceeds the representable"
        ),
        lambda *_: NumericOutOfRange(
            "this function computes with nanoseconds, which have the years from 1677 to 2262 only: write "
            "CAST(… AS TIMESTAMP) for a text, and date_trunc() or a condition for such a timestamp"
        ),
    ),
    (
        re.compile(r"Cannot cast string '(.*)' to value of (\w+) type", re.S),
        lambda m, _: ExecutionError(
            f"'{m.group(1)}' can't be read as {_in_sql(m.group(2))}; TRY_CAST gives NULL for such"
        ),
    ),
    (
        re.compile(r"value of (-?\d+) is out of range (Int\d+)|Can't cast value (-?[\d.e+]+) to type (U?Int\d+)"),
        lambda m, _: _out_of_range(m.group(2) or m.group(4), m.group(1) or m.group(3)),
    ),
    (
        re.compile(r"(?<!\d)(-?\d+) is too (?:large|small) to store in a Decimal\d+ of precision (\d+)"),
        lambda m, _: NumericOutOfRange(
            f"decimal({m.group(2)}) out of range: a result has more than {m.group(2)} digits"
        ),
    ),
    (
        re.compile(r"Cannot cast to (Decimal\d+\(\d+, \d+\))\. Overflowing on (\S+)"),
        lambda m, _: _out_of_range(m.group(1), m.group(2)),
    ),
    (
        re.compile(r"(Int\d+)Array overflow on abs\(-(\d+)\)"),
        lambda m, _: _out_of_range(m.group(1), m.group(2)),
    ),
    (
        re.compile(r"Overflow happened on: (.*)"),
        lambda m, _: NumericOutOfRange(f"numeric value out of range: {m.group(1)}"),
    ),
    (re.compile(r"Cast error: (.*)"), lambda m, _: ExecutionError(_in_sql(m.group(1)))),
    (re.compile(r'must be in GROUP BY or an aggregate function: .*?column "(.+?)" must appear', re.S), _not_grouped),
    (
        re.compile(r"(No value found for placeholder .*|Placeholder .*|No placeholder .*)"),
        lambda m, _: InvalidArgument(m.group(1)),
    ),
    (re.compile(r"Divide by zero"), lambda _m, _t: ExecutionError("division by zero")),
    (
        re.compile(r"No such file or directory|FileNotFoundError|Parquet magic bytes|Not a parquet file|[Cc]orrupt"),
        lambda _, t: DataCorrupt(t.splitlines()[0]),
    ),
]
