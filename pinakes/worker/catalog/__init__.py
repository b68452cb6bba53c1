"""The catalog of a worker: declared (`Catalog`, `Schema`, `Table`, `View`), or an implementation of `CatalogInterface`.
How requests arrive belongs to `worker/serving`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.worker.catalog.descriptors import Catalog, Schema, Table, View
from pinakes.worker.catalog.infos import (
    CatalogAttachResult,
    FunctionInfo,
    ScanFunctionResult,
    SchemaInfo,
    TableInfo,
    ViewInfo,
)
from pinakes.worker.catalog.interface import CatalogInterface
from pinakes.worker.catalog.names import (
    AttachOpaqueData,
    FunctionType,
    OnConflict,
    SchemaObjectType,
    SerializedSchema,
    SqlExpression,
    TransactionOpaqueData,
)
from pinakes.worker.catalog.read_only import ReadOnlyCatalogInterface

if TYPE_CHECKING:
    from pinakes.worker.catalog.storage import CatalogStorage, CatalogStorageSqlite
    from pinakes.worker.catalog.stored import StoredContent

__all__ = [
    "AttachOpaqueData",
    "Catalog",
    "CatalogAttachResult",
    "CatalogInterface",
    "CatalogStorage",
    "CatalogStorageSqlite",
    "FunctionInfo",
    "FunctionType",
    "OnConflict",
    "ReadOnlyCatalogInterface",
    "ScanFunctionResult",
    "Schema",
    "SchemaInfo",
    "SchemaObjectType",
    "SerializedSchema",
    "SqlExpression",
    "StoredContent",
    "Table",
    "TableInfo",
    "TransactionOpaqueData",
    "View",
    "ViewInfo",
]


def __getattr__(name: str) -> Any:
    """Imports storage on demand: few workers need SQLite."""
    if name in ("CatalogStorage", "CatalogStorageSqlite"):
        from pinakes.worker.catalog import storage

        return getattr(storage, name)
    if name == "StoredContent":
        from pinakes.worker.catalog.stored import StoredContent

        return StoredContent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
