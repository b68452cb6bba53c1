"""The types that a statement's parameters are expected to have, read from the plan: DataFusion notes at a placeholder
the type of what it is compared or computed with. Of a change, a parameter alone has its column's type, and the rest is
planned as the query that the change implies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import PinakesError
from pinakes.core.names import Part, match
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.statement_context import Execution
from pinakes.parser import statements as s
from pinakes.parser.value_rows import value_rows

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.plan import LogicalPlan

_NOTED = re.compile(
    r'Placeholder \{ id: "\$(\w+)", field: Some\(Field \{ name: "(?:[^"\\]|\\.)*", data_type: '
    r"(\w+(?:\((?:[^()]|\([^()]*\))*\))?)"
)
_FETCHED = re.compile(r'(?:Skip|Fetch|skip|fetch): Some\(Placeholder\(Placeholder \{ id: "\$(\w+)", field: None')
_UNITS = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}
_PLAIN: dict[str, pa.DataType] = {
    "Boolean": pa.bool_(), "Int8": pa.int8(), "Int16": pa.int16(), "Int32": pa.int32(), "Int64": pa.int64(),
    "UInt8": pa.uint8(), "UInt16": pa.uint16(), "UInt32": pa.uint32(), "UInt64": pa.uint64(),
    "Float16": pa.float16(), "Float32": pa.float32(), "Float64": pa.float64(), "Date32": pa.date32(),
    "Date64": pa.date64(), "Utf8": pa.string(), "Utf8View": pa.string(), "LargeUtf8": pa.string(),
    "Binary": pa.binary(), "BinaryView": pa.binary(), "LargeBinary": pa.binary(),
}  # fmt: skip
"""DataFusion's words for Arrow's types."""


def types_in_plan(frame: DataFrame) -> dict[str, pa.DataType]:
    """By the name of the parameter; parameters without a type in the plan are left out."""
    found: dict[str, pa.DataType] = {}
    for text in _texts(frame.logical_plan()):
        for name, word in _NOTED.findall(text):
            kind = _type(word)
            if kind is not None:
                found.setdefault(name, kind)
        for name in _FETCHED.findall(text):
            found.setdefault(name, pa.int64())
    return found


def _texts(plan: LogicalPlan) -> Iterator[str]:
    yield repr(plan.to_variant())
    for below in plan.inputs():
        yield from _texts(below)


def _type(word: str) -> pa.DataType | None:
    if word in _PLAIN:
        return _PLAIN[word]
    name, _, inside = word.partition("(")
    arguments = [a.strip() for a in inside.rstrip(")").split(",")]
    match name:
        case "Decimal128" | "Decimal256" | "Decimal64" | "Decimal32":
            return pa.decimal128(int(arguments[0]), int(arguments[1])) if int(arguments[0]) <= 38 else None
        case "Timestamp":
            zone = re.search(r'Some\("([^"]+)"', word)
            return pa.timestamp(_UNITS[arguments[0]], tz=zone.group(1) if zone else None)
        case "Time32" | "Time64":
            return pa.time64("us")
        case _:
            return None


# --- changes -----------------------------------------------------------------------------------------------------


def types_in_change(statement: s.Statement, execution: Execution) -> dict[str, pa.DataType]:
    """The types in an INSERT, UPDATE or DELETE. Errors of the statement are reported when it runs."""
    try:
        match statement:
            case s.Insert():
                return {**_in_body(statement, execution), **_inserted(statement, execution)}
            case s.Update():
                return {**_in_conditions(statement, execution), **_assigned(statement, execution)}
            case s.Delete():
                return _in_conditions(statement, execution)
            case _:
                return {}
    except PinakesError:
        return {}


def _columns(target: s.TableRef, execution: Execution) -> dict[str, pa.DataType]:
    _, table = execution.session.resolver.table(target.name)
    schema = arrow_schema_of(table.handle.schema(), execution.session.settings.time_zone)
    return {field.name: field.type for field in schema}


def _inserted(statement: s.Insert, execution: Execution) -> dict[str, pa.DataType]:
    """VALUES (?, ?): each the type of its column."""
    columns = _columns(statement.target, execution)
    static = [match(p.column, columns, "column") for p in statement.partition if p.value is not None]
    left = [name for name in columns if name not in static]
    given = [match(part, columns, "column") or "" for part in statement.columns] or left
    pairs = [(name, span) for row in value_rows(statement) for name, span in zip(given, row, strict=False)]
    return _alone(statement, columns, pairs)


def _assigned(statement: s.Update, execution: Execution) -> dict[str, pa.DataType]:
    """SET column = ?"""
    columns = _columns(statement.target, execution)
    pairs = [(_name(a.column, columns), a.value) for a in statement.assignments]
    return _alone(statement, columns, pairs)


def _name(path: Sequence[Part], columns: dict[str, pa.DataType]) -> str:
    return (match(path[0], columns, "column") or "") if len(path) == 1 else ""


def _alone(
    statement: s.Planned, columns: dict[str, pa.DataType], pairs: Sequence[tuple[str, s.Span]]
) -> dict[str, pa.DataType]:
    """The parameters that are a whole value, with the type of the column that they are for."""
    whole = {(p.span.start, p.span.end): p.name for p in statement.placeholders}
    known = [(whole.get(_trimmed(statement.text, span)), columns.get(name)) for name, span in pairs]
    return {name: kind for name, kind in known if name is not None and kind is not None}


def _trimmed(text: str, span: s.Span) -> tuple[int, int]:
    piece = span.of(text)
    return span.start + len(piece) - len(piece.lstrip()), span.end - len(piece) + len(piece.rstrip())


def _in_body(statement: s.Insert, execution: Execution) -> dict[str, pa.DataType]:
    """INSERT … SELECT: as in the query."""
    if statement.body is None or value_rows(statement):
        return {}
    return _in_query(statement, [statement.body], statement.body.of(statement.text), execution)


def _in_conditions(statement: s.Update | s.Delete, execution: Execution) -> dict[str, pa.DataType]:
    """As in SELECT values FROM target, source WHERE condition."""
    text, target = statement.text, statement.target
    values = [a.value for a in statement.assignments] if isinstance(statement, s.Update) else []
    pieces = [span for span in (*values, statement.source, statement.where) if span is not None]
    alias = f" AS {target.alias}" if target.alias is not None else ""
    sql = f"SELECT {', '.join(span.of(text) for span in values) or '1'} FROM {target.span.of(text)}{alias}"
    if statement.source is not None:
        sql += f", {statement.source.of(text)}"
    if statement.where is not None:
        sql += f" WHERE {statement.where.of(text)}"
    return _in_query(statement, pieces, sql, execution)


def _in_query(statement: s.Planned, pieces: Sequence[s.Span], sql: str, execution: Execution) -> dict[str, pa.DataType]:
    """The types in a query that is made of pieces of the statement: `?` is numbered from one again there."""
    query = execution.session.engine.caches.statements.classify(sql)
    if not isinstance(query, s.Query):
        return {}
    types = types_in_plan(execution.planner().query(query, is_result=True).frame)
    taken = [p for span in pieces for p in statement.placeholders if span.start <= p.span.start < span.end]
    there = sorted(query.placeholders, key=lambda p: p.span.start)
    pairs = zip(taken, there, strict=False)
    return {ours.name: types[theirs.name] for ours, theirs in pairs if theirs.name in types}
