"""Converts the records of `infos.py` to bytes of the protocol, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pinakes.core.names import dotted
from pinakes.worker.catalog.infos import (
    CatalogAttachResult,
    FunctionInfo,
    ScanFunctionResult,
    SchemaInfo,
    TableInfo,
    ViewInfo,
)
from pinakes.worker.catalog.names import AttachOpaqueData, FunctionType, SerializedSchema
from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.wire import schemas
from pinakes.worker.wire.arguments import Arguments, scan_bytes, scan_from
from pinakes.worker.wire.filters import SEMANTICS
from pinakes.worker.wire.records import batch_of, decode, encode, row, stream_of

Info = SchemaInfo | TableInfo | ViewInfo | FunctionInfo

_NEVER = {
    "partition_kind": "NOT_PARTITIONED",
    "order_dependent": "NOT_ORDER_DEPENDENT",
    "distinct_dependent": "NOT_DISTINCT_DEPENDENT",
}
"""The values of protocol fields that our functions do not support."""


def path_of(name: str | Sequence[str]) -> list[str]:
    return [name] if isinstance(name, str) else list(name)


def name_of(path: Sequence[str] | None) -> str:
    """Returns the name of a schema: for one level the name itself, for nested levels all of them joined by dots."""
    if not path:
        raise ProtocolError("a schema must have a name")
    return path[0] if len(path) == 1 else dotted(path)


def attached(result: CatalogAttachResult) -> bytes:
    values = {name: getattr(result, name) for name in result.__dataclass_fields__}
    return encode(schemas.CATALOG_ATTACH_RESULT, _filled(schemas.CATALOG_ATTACH_RESULT, values))


def attached_from(data: bytes | None) -> CatalogAttachResult:
    values = decode(data, "the answer of catalog_attach")
    if values.get("attach_opaque_data") is None:
        raise ProtocolError("the answer of catalog_attach has no attach_opaque_data")
    known = {n: values[n] for n in CatalogAttachResult.__dataclass_fields__ if values.get(n) is not None}
    return CatalogAttachResult(**known)


def info_bytes(info: Info) -> bytes:
    match info:
        case SchemaInfo():
            schema, values = schemas.SCHEMA_INFO, {"path": list(info.path) or [info.name]}
        case TableInfo():
            schema, values = schemas.TABLE_INFO, _named(info)
        case ViewInfo():
            schema, values = schemas.VIEW_INFO, _named(info)
        case FunctionInfo():
            schema, values = schemas.FUNCTION_INFO, _function(info)
    return encode(schema, _filled(schema, {"comment": info.comment, "tags": info.tags, **values}))


def _named(info: TableInfo | ViewInfo) -> dict[str, Any]:
    return {**{n: getattr(info, n) for n in info.__dataclass_fields__}, "schema_path": [info.schema_name]}


def _function(info: FunctionInfo) -> dict[str, Any]:
    defaults = pa.RecordBatch.from_arrays(
        [pa.array([v.as_py()], v.type) for v in info.defaults.values()], names=list(info.defaults)
    )
    return {
        **_NEVER,
        "name": info.name,
        "schema_path": [info.schema_name],
        "function_type": info.function_type.name,
        "arguments": info.arguments,
        "output_schema": info.output_schema,
        "parameter_default_values": stream_of(defaults) if info.defaults else None,
        "stability": "CONSISTENT" if info.deterministic else "VOLATILE",
        "description": info.comment or "",
        "projection_pushdown": info.projection_pushdown,
        "filter_pushdown": info.filter_pushdown,
        "filter_semantic_profiles": [SEMANTICS] if info.filter_pushdown else [],
        "max_workers": info.max_workers,
    }


def schema_from_record(data: bytes, attach: AttachOpaqueData) -> SchemaInfo:
    values = decode(data, "a SchemaInfo")
    path = tuple(values.get("path") or ())
    return SchemaInfo(attach_opaque_data=attach, name=name_of(path), path=path, **_described(values))


def table_from_record(data: bytes) -> TableInfo:
    values = decode(data, "a TableInfo")
    names = ("not_null_constraints", "unique_constraints", "check_constraints", "primary_key_constraints")
    lists: dict[str, Any] = {name: values.get(name) or [] for name in names}
    return TableInfo(
        name=_text(values, "name"),
        schema_name=name_of(values.get("schema_path")),
        columns=SerializedSchema(values.get("columns") or b""),
        **lists,
        **_described(values),
    )


def view_from_record(data: bytes) -> ViewInfo:
    values = decode(data, "a ViewInfo")
    return ViewInfo(
        name=_text(values, "name"),
        schema_name=name_of(values.get("schema_path")),
        definition=_text(values, "definition"),
        **_described(values),
    )


def function_from_record(data: bytes) -> FunctionInfo | None:
    """Decodes a function; None for an unknown kind of function."""
    values = decode(data, "a FunctionInfo")
    kind = values.get("function_type")
    if not isinstance(kind, str) or kind not in FunctionType.__members__:
        return None
    comment = values.get("comment") or values.get("description") or None
    return FunctionInfo(
        name=_text(values, "name"),
        schema_name=name_of(values.get("schema_path")),
        function_type=FunctionType[kind],
        arguments=SerializedSchema(values.get("arguments") or b""),
        output_schema=SerializedSchema(values.get("output_schema") or b""),
        defaults=_defaults(values.get("parameter_default_values")),
        projection_pushdown=bool(values.get("projection_pushdown")),
        filter_pushdown=bool(values.get("filter_pushdown")) and SEMANTICS in values.get("filter_semantic_profiles", ()),
        max_workers=max(1, int(values.get("max_workers") or 1)),
        deterministic=values.get("stability") == "CONSISTENT",
        **{**_described(values), "comment": comment},
    )


def scan_result_bytes(result: ScanFunctionResult) -> bytes:
    arguments = Arguments.of(result.positional_arguments, result.named_arguments)
    return stream_of(
        row(
            schemas.SCAN_FUNCTION_RESULT,
            {
                "function_name": result.function_name,
                "arguments": scan_bytes(arguments),
                "required_extensions": list(result.required_extensions),
            },
        )
    )


def scan_result_from(data: bytes | None) -> ScanFunctionResult:
    values = decode(data, "a ScanFunctionResult")
    arguments = scan_from(values.get("arguments"))
    return ScanFunctionResult(
        function_name=_text(values, "function_name"),
        positional_arguments=arguments.positional,
        named_arguments=arguments.named,
        required_extensions=values.get("required_extensions") or [],
    )


def _described(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"comment": values.get("comment"), "tags": values.get("tags") or {}}


def _text(values: Mapping[str, Any], name: str) -> str:
    found = values.get(name)
    if not isinstance(found, str):
        raise ProtocolError(f"a record of the worker has no {name}")
    return found


def _defaults(data: bytes | None) -> dict[str, pa.Scalar]:
    if not data:
        return {}
    batch = batch_of(data, "the defaults of a function")
    return {f.name: batch.column(i)[0] for i, f in enumerate(batch.schema)} if batch.num_rows else {}


def _filled(schema: pa.Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values, with an empty value for each required field that has none."""
    return {
        f.name: _empty(f.type) if values.get(f.name) is None and not f.nullable else values.get(f.name) for f in schema
    }


def _empty(t: pa.DataType) -> Any:
    if pa.types.is_boolean(t):
        return False
    if pa.types.is_integer(t):
        return 0
    if pa.types.is_map(t):
        return {}
    if pa.types.is_list(t):
        return []
    return "" if pa.types.is_string(t) else b"" if pa.types.is_binary(t) else None
