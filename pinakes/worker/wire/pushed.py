"""Decodes pushed-down predicates: those that a function may use, and those that the worker must apply.

A "required" predicate is not checked by the caller, so it must be decoded completely, or the call is refused. An
"advisory" one may be used in part, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import types as is_

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.wire.filters import (
    ENCODING,
    METADATA,
    OPERATORS,
    SEMANTICS,
    And,
    Comparison,
    Filter,
    In,
    IsNotNull,
    IsNull,
    Or,
)
from pinakes.worker.wire.records import batch_of

_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


@dataclass(frozen=True, slots=True)
class Pushed:
    filters: tuple[Filter, ...] = ()
    """The predicates that all rows must satisfy, as far as they are supported."""
    required: tuple[Filter, ...] = ()
    """Those that the caller does not check."""


def pushed_from(data: bytes | None, schema: pa.Schema) -> Pushed:
    """Decodes predicates; `schema` is that of the function's complete output."""
    if not data:
        return Pushed()
    batch = batch_of(data, "pushed filters")
    spec = _spec(batch)
    filters: list[Filter] = []
    required: list[Filter] = []
    try:
        for predicate in spec["predicates"]:
            found = _Reader(batch, schema, whole=predicate["mode"] == "required").read(predicate["expression"])
            filters += [found] if found is not None else []
            required += [found] if found is not None and predicate["mode"] == "required" else []
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ProtocolError(f"pushed filters can't be read: {error!r}") from error
    return Pushed(tuple(filters), tuple(required))


def _spec(batch: pa.RecordBatch) -> Mapping[str, Any]:
    schema_metadata = batch.schema.metadata or {}
    if any(schema_metadata.get(key) != METADATA[key] for key in (b"vgi_filter_encoding", b"vgi_filter_version")):
        raise ProtocolError(f"pushed filters must be encoded as {ENCODING}")
    if batch.num_rows != 1 or batch.schema.names[:1] != ["filter_spec"]:
        raise ProtocolError("pushed filters must be one row that begins with filter_spec")
    try:
        spec = json.loads(batch.column(0)[0].as_py())
    except (ValueError, TypeError, RecursionError) as error:
        raise ProtocolError(f"pushed filters can't be read: {error}") from error
    if not isinstance(spec, dict) or spec.get("semantics") != SEMANTICS or spec.get("kind") != "snapshot":
        raise ProtocolError(f"pushed filters must be a snapshot by the semantics {SEMANTICS}")
    return spec


class _Reader:
    """Decodes one predicate. With `whole`, no part of it may be left out."""

    def __init__(self, batch: pa.RecordBatch, schema: pa.Schema, *, whole: bool) -> None:
        self._batch, self._schema, self._whole = batch, schema, whole

    def read(self, node: Mapping[str, Any]) -> Filter | None:
        found = self._read(node)
        if found is None and self._whole:
            raise ProtocolError(
                f"a condition that must be applied is not understood here: {node.get('node')}",
                kind="filter_not_supported",
                code="UNIMPLEMENTED",
            )
        return found

    def _read(self, node: Mapping[str, Any]) -> Filter | None:
        match node["node"]:
            case "and" | "or":
                children = [self.read(child) for child in node["children"]]
                known = tuple(child for child in children if child is not None)
                if node["node"] == "and":
                    return And(known) if known else None
                return Or(known) if len(known) == len(children) else None
            case "comparison" if node["op"] in OPERATORS:
                return self._comparison(node)
            case "in" if not node["negated"] and node["set"]["kind"] == "literal":
                return self._in(node)
            case "is_null":
                column = self._column(node["expression"])
                kind = IsNotNull if node["negated"] else IsNull
                return kind(column.name) if column is not None else None
        return None

    def _comparison(self, node: Mapping[str, Any]) -> Filter | None:
        left, right, op = node["left"], node["right"], node["op"]
        if left["node"] == "literal":
            left, right, op = right, left, _TURNED[op]
        column = self._column(left)
        if column is None or right["node"] != "literal":
            return None
        value = _fitted(self._value(right), column.type)
        return Comparison(column.name, op, value) if value is not None else None

    def _in(self, node: Mapping[str, Any]) -> Filter | None:
        column = self._column(node["expression"])
        listed = self._value(node["set"])
        if column is None or not is_.is_list(listed.type) or not listed.is_valid:
            return None
        values = [_fitted(value, column.type) for value in listed.values if value.is_valid]
        if any(value is None for value in values):
            return None
        return In(column.name, pa.array([value.as_py() for value in values if value is not None], column.type))

    def _column(self, node: Mapping[str, Any]) -> pa.Field | None:
        if node["node"] != "column_ref":
            return None
        field = self._schema.field(int(node["column_index"]))
        if field.name != node["column_name"]:
            raise ProtocolError(f"column {node['column_index']} is '{field.name}', and not '{node['column_name']}'")
        return field

    def _value(self, node: Mapping[str, Any]) -> pa.Scalar:
        return self._batch.column(f"value_{int(node['value_ref'])}")[0]


def _fitted(value: pa.Scalar, kind: pa.DataType) -> pa.Scalar | None:
    """Returns a value cast to the column's type; None if the cast fails or changes it, or for NULL and NaN."""
    if not value.is_valid or (is_.is_floating(value.type) and value.as_py() != value.as_py()):
        return None
    if value.type == kind:
        return value
    if not any(is_kind(value.type) and is_kind(kind) for is_kind in (_is_number, _is_text, is_.is_temporal)):
        return None
    try:
        cast = value.cast(kind)
        return cast if cast.cast(value.type).equals(value) else None
    except (pa.ArrowException, NotImplementedError):
        return None


def _is_number(t: pa.DataType) -> bool:
    return bool(is_.is_integer(t) or is_.is_floating(t) or is_.is_decimal(t))


def _is_text(t: pa.DataType) -> bool:
    return bool(is_.is_string(t) or is_.is_large_string(t) or is_.is_string_view(t))
