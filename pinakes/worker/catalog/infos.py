"""The descriptions that a catalog returns: one frozen record per kind of object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pinakes.worker.catalog.names import AttachOpaqueData, FunctionType, SerializedSchema


@dataclass(frozen=True, kw_only=True)
class CatalogAttachResult:
    """The result of `catalog_attach`."""

    attach_opaque_data: AttachOpaqueData = field(repr=False)
    supports_transactions: bool = False
    supports_time_travel: bool = False
    catalog_version_frozen: bool = False
    catalog_version: int = 0
    attach_opaque_data_required: bool = False
    default_schema: str = "main"
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SchemaInfo:
    attach_opaque_data: AttachOpaqueData = field(repr=False)
    name: str
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    """Its levels, if the worker has nested schemas."""


@dataclass(frozen=True, kw_only=True)
class TableInfo:
    name: str
    schema_name: str
    columns: SerializedSchema
    not_null_constraints: Sequence[int] = ()
    unique_constraints: Sequence[Sequence[int]] = ()
    check_constraints: Sequence[str] = ()
    primary_key_constraints: Sequence[Sequence[int]] = ()
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ViewInfo:
    name: str
    schema_name: str
    definition: str
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FunctionInfo:
    name: str
    schema_name: str
    function_type: FunctionType
    arguments: SerializedSchema
    output_schema: SerializedSchema
    comment: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, pa.Scalar] = field(default_factory=dict)
    """Default values of optional arguments."""
    projection_pushdown: bool = False
    filter_pushdown: bool = False
    max_workers: int = 1
    """The maximum number of workers that may share a call."""
    deterministic: bool = True
    """Whether a scalar function returns the same value for the same arguments."""


@dataclass(frozen=True, kw_only=True)
class ScanFunctionResult:
    """How to read a table: a function of the worker or of the engine, and its arguments."""

    function_name: str
    positional_arguments: Sequence[pa.Scalar] = ()
    named_arguments: Mapping[str, pa.Scalar] = field(default_factory=dict)
    required_extensions: Sequence[str] = ()
