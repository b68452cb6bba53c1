"""The types of JSON values: the common shape of a sample of objects, and conversion of values to it.

Integers and fractions combine to DOUBLE, integers too long for BIGINT are DECIMAL(38,0), and values without a common
type (a number and a list) are kept as JSON text. JSON has no NaN and no infinity: among numbers, their names in quotes,
as COPY … TO writes them, are read as such.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

import pyarrow as pa

Kind = Literal["null", "bool", "int", "huge", "float", "nan", "text", "json", "list", "struct"]
_TYPES: dict[Kind, pa.DataType] = {
    "null": pa.string(),
    "bool": pa.bool_(),
    "int": pa.int64(),
    "huge": pa.decimal128(38, 0),
    "float": pa.float64(),
    "nan": pa.string(),
    "text": pa.string(),
    "json": pa.string(),
}
_NUMBERS: tuple[Kind, ...] = ("int", "huge", "float")
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
"""Strings that are numbers if the column has other numbers."""


@dataclass(frozen=True, slots=True)
class Shape:
    kind: Kind = "null"
    items: tuple[Shape, ...] = ()
    fields: Mapping[str, Shape] = field(default_factory=dict)

    def type(self) -> pa.DataType:
        if self.kind == "list":
            return pa.list_(self.items[0].type())
        if self.kind == "struct":
            return pa.struct([(name, shape.type()) for name, shape in self.fields.items()])
        return _TYPES[self.kind]

    @property
    def is_plain(self) -> bool:
        """Whether Arrow's JSON reader returns the same values."""
        within = (*self.items, *self.fields.values())
        return self.kind not in ("json", "huge", "null") and all(shape.is_plain for shape in within)


def shape_of(value: Any) -> Shape:
    match value:
        case None:
            return Shape()
        case bool():
            return Shape("bool")
        case int():
            long = not -(2**63) <= value < 2**63
            return Shape("json" if abs(value) >= 10**38 else "huge" if long else "int")
        case float():
            return Shape("float")
        case str():
            return Shape("nan" if value in _NOT_FINITE else "text")
        case list():
            item = Shape()
            for element in value:
                item = combine(item, shape_of(element))
            return Shape("list", (item,))
        case dict():
            if not value:
                return Shape("json")  # Arrow and Parquet have no struct without fields
            return Shape("struct", fields={name: shape_of(v) for name, v in value.items()})
    raise TypeError(f"JSON has no {type(value).__name__}")


def combine(a: Shape, b: Shape) -> Shape:
    """Returns the common shape of both."""
    if a == b or b.kind == "null":
        return a
    if a.kind == "null":
        return b
    if a.kind in _NUMBERS and b.kind in _NUMBERS:
        return Shape(max(a.kind, b.kind, key=_NUMBERS.index))
    if "nan" in (a.kind, b.kind) and (other := b if a.kind == "nan" else a).kind in (*_NUMBERS, "text"):
        return Shape("text" if other.kind == "text" else "float")
    if a.kind == b.kind == "list":
        return Shape("list", (combine(a.items[0], b.items[0]),))
    if a.kind == b.kind == "struct":
        names = dict.fromkeys((*a.fields, *b.fields))
        return Shape("struct", fields={n: combine(a.fields.get(n, Shape()), b.fields.get(n, Shape())) for n in names})
    return Shape("json")


class Misfit(ValueError):
    """A value that does not have the type of its column: its path, and the value."""


def convert_value(value: Any, shape: Shape, path: str) -> Any:
    """Converts a value to the shape's type; raises Misfit if it does not fit."""
    if value is None:
        return None
    if shape.kind == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if shape.kind == "list" and isinstance(value, list):
        return [convert_value(v, shape.items[0], path) for v in value]
    if shape.kind == "struct" and isinstance(value, dict):
        unknown = next((name for name in value if name not in shape.fields), None)
        if unknown is not None:
            raise Misfit(f"{path}.{unknown} is a field that the sample does not have")
        return {name: convert_value(v, shape.fields[name], f"{path}.{name}") for name, v in value.items()}
    if _fits(value, shape.kind):
        return Decimal(value) if shape.kind == "huge" else float(value) if shape.kind == "float" else value
    shown = json.dumps(value, ensure_ascii=False)
    raise Misfit(f"{path} has {shown if len(shown) <= 60 else shown[:60] + '…'}, which is not {_NAMES[shape.kind]}")


def _fits(value: Any, kind: Kind) -> bool:
    if isinstance(value, bool):
        return kind == "bool"
    if isinstance(value, int):
        return kind in ("float", "huge") or (kind == "int" and -(2**63) <= value < 2**63)
    if isinstance(value, float):
        return kind == "float"
    return isinstance(value, str) and (kind in ("text", "nan") or (kind == "float" and value in _NOT_FINITE))


_NAMES: dict[Kind, str] = {
    "null": "NULL",
    "bool": "BOOLEAN",
    "int": "BIGINT",
    "huge": "DECIMAL(38,0)",
    "float": "DOUBLE",
    "nan": "VARCHAR",
    "text": "VARCHAR",
    "list": "list",
    "struct": "object",
    "json": "JSON",
}
