"""The functions that a query may call: those that DataFusion lists, those of `parser/functions`, and ours that read
files.

Argument and result types are DataFusion's examples; a function that takes any type has none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa
from datafusion import SessionConfig, SessionContext

from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.engine.datafusion.json_functions import LISTED

_ROUTINES = (
    "SELECT routine_name, function_type, min(syntax_example), min(description), bool_and(is_deterministic) "
    "FROM information_schema.routines WHERE function_type <> 'TABLE' GROUP BY routine_name, function_type"
)
_PARAMETERS = (
    "SELECT specific_name, rid, parameter_mode, data_type FROM information_schema.parameters "
    "ORDER BY specific_name, rid, parameter_mode, ordinal_position"
)


class Function(NamedTuple):
    name: str
    kind: str
    syntax: str
    description: str
    arguments: tuple[str, ...] = ()
    """The types that it takes, one text for each way to call it."""
    returns: tuple[str, ...] = ()
    """The types that it gives."""
    deterministic: bool = True
    example: str = ""
    """A query that calls it; empty for functions of DataFusion."""


TABLE_FUNCTIONS = (
    Function("generate_series", "table", "generate_series(start, stop[, step])", "Rows from a value to another"),
    Function("range", "table", "range(start, stop[, step])", "The same without the last value"),
    Function("read_arrow", "table", "read_arrow(path, …)", "Rows of Arrow files"),
    Function("read_avro", "table", "read_avro(path, …)", "Rows of Avro files"),
    Function("read_csv", "table", "read_csv(path, …)", "Rows of CSV files"),
    Function("read_json", "table", "read_json(path, …)", "Rows of JSON files"),
    Function("read_orc", "table", "read_orc(path, …)", "Rows of ORC files"),
    Function("read_parquet", "table", "read_parquet(path, …)", "Rows of Parquet files"),
    Function("read_xlsx", "table", "read_xlsx(path, …)", "Rows of a sheet of Excel workbooks"),
)
"""The functions that give rows; DataFusion's listing leaves them out."""


@cache
def functions() -> tuple[Function, ...]:
    """All functions, sorted by name; listed once, from a context without catalogs, in about 40 ms."""
    context = SessionContext(SessionConfig().with_information_schema(True))
    arguments, returns = _types(_rows(context, _PARAMETERS))
    listed = [
        Function(name, kind.lower(), (syntax or "").strip(), (text or "").strip(), arguments[name], returns[name], sure)
        for name, kind, syntax, text, sure in _rows(context, _ROUTINES)
    ]
    names = {function.name for function in listed}
    added = [*_added(), *(Function(name, "scalar", syntax, text) for name, syntax, text in LISTED if name not in names)]
    replaced = {(function.name, function.kind) for function in added}
    return tuple(sorted([*(f for f in listed if (f.name, f.kind) not in replaced), *added, *TABLE_FUNCTIONS]))


def _added() -> list[Function]:
    """The functions of `parser/functions`, some of which take more than DataFusion's of the same name."""
    from pinakes.parser.functions.catalog import RULES

    return [
        Function(
            name,
            rule.kind,
            rule.syntax,
            rule.description,
            (rule.takes,) if rule.takes else (),
            (rule.returns,),
            rule.deterministic,
            rule.example,
        )
        for name, rule in RULES.items()
    ]


def _rows(context: SessionContext, sql: str) -> Iterable[tuple[Any, ...]]:
    columns = context.sql(sql).to_arrow_table().columns
    return zip(*(column.to_pylist() for column in columns), strict=True)


Types = defaultdict[str, tuple[str, ...]]


def _types(parameters: Iterable[tuple[str, int, str, str]]) -> tuple[Types, Types]:
    """What each function takes and gives, by its name: each text once, though DataFusion knows it by several types."""
    calls: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    returns: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for name, call, mode, kind in parameters:
        if mode == "OUT":
            returns[name][sql_type(kind)] = None
        else:
            calls[name, call].append(sql_type(kind))
    arguments: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for (name, _), kinds in calls.items():
        arguments[name][", ".join(kinds)] = None
    return _in_order(arguments), _in_order(returns)


def _in_order(found: dict[str, dict[str, None]]) -> Types:
    return defaultdict(tuple, {name: tuple(sorted(texts)) for name, texts in found.items()})


# --- types as DataFusion prints them ---------------------------------------------------------------------------------

_PLAIN: dict[str, pa.DataType] = {
    "Null": pa.null(),
    "Boolean": pa.bool_(),
    "Int8": pa.int8(),
    "Int16": pa.int16(),
    "Int32": pa.int32(),
    "Int64": pa.int64(),
    "UInt8": pa.uint8(),
    "UInt16": pa.uint16(),
    "UInt32": pa.uint32(),
    "UInt64": pa.uint64(),
    "Float16": pa.float16(),
    "Float32": pa.float32(),
    "Float64": pa.float64(),
    "String": pa.string(),
    "Binary": pa.binary(),
    "Date": pa.date32(),
}
_PRECISION = {"s": 0, "ms": 3, "µs": 6, "ns": 9}
_SIZED = re.compile(r"(\w+)\((.*)\)\Z")


def sql_type(printed: str) -> str:
    """The SQL name of a type that DataFusion printed; unknown types are returned as printed."""
    if printed in _PLAIN:
        return sql_name_of_arrow(_PLAIN[printed])
    sized = _SIZED.match(printed)
    if sized is None:
        return printed.lower()
    name, inner = sized.groups()
    match name:
        case "List":
            return f"array({sql_type(inner)})"
        case "Decimal":
            return f"decimal({inner.replace(' ', '')})"
        case "Timestamp":
            unit, _, zone = inner.partition(", ")
            return f"timestamp({_PRECISION.get(unit, unit)})" + (" with time zone" if zone else "")
        case "Time":
            return f"time({_PRECISION.get(inner, inner)})"
        case "Duration":
            return "interval day to second"
        case "Interval":
            return "interval"
        case _:
            return printed.lower()
