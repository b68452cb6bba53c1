"""The catalog methods of a client, one per method of the protocol; for tables and views, see `table_mixin.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from pinakes.worker.catalog.infos import (
    CatalogAttachResult,
    FunctionInfo,
    SchemaInfo,
    TableInfo,
    ViewInfo,
)
from pinakes.worker.catalog.names import (
    AttachOpaqueData,
    OnConflict,
    SchemaObjectType,
    TransactionOpaqueData,
)
from pinakes.worker.catalog.records import (
    attached_from,
    function_from_record,
    path_of,
    schema_from_record,
    table_from_record,
    view_from_record,
)
from pinakes.worker.client.call_mixin import Path, Txn, in_values
from pinakes.worker.client.table_mixin import TableClientMixin
from pinakes.worker.wire import schemas
from pinakes.worker.wire.records import decode, encode, stream_of


class CatalogClientMixin(TableClientMixin):
    """A mix-in for a `Client`: `class CatalogClient(CatalogClientMixin, Client)`."""

    # --- catalogs ------------------------------------------------------------------------------------------------

    def catalogs(self) -> list[str]:
        return [decode(item, "a CatalogInfo")["name"] for item in self._items("catalog_catalogs", {})]

    def catalog_attach(
        self,
        *,
        name: str,
        options: Mapping[str, Any] | None = None,
        data_version_spec: str | None = None,
        implementation_version: str | None = None,
    ) -> CatalogAttachResult:
        values = {
            "name": name,
            "options": _options(options),
            "data_version_spec": data_version_spec,
            "implementation_version": implementation_version,
        }
        return attached_from(self.call("catalog_attach", {"request": encode(schemas.CATALOG_ATTACH_REQUEST, values)}))

    def catalog_detach(self, *, attach_opaque_data: AttachOpaqueData) -> None:
        self.call("catalog_detach", {"attach_opaque_data": attach_opaque_data})

    def catalog_create(
        self, *, name: str, options: Mapping[str, Any] | None = None, on_conflict: OnConflict = OnConflict.ERROR
    ) -> None:
        values = {"name": name, "on_conflict": on_conflict.name, "options": _options(options)}
        self.call("catalog_create", {"request": encode(schemas.CATALOG_CREATE_REQUEST, values)})

    def catalog_drop(self, *, name: str) -> None:
        self.call("catalog_drop", {"name": name})

    def catalog_version(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn = None) -> int:
        found = self.call("catalog_version", in_values(attach_opaque_data, transaction_opaque_data))
        return int(next(iter(decode(found, "the answer of catalog_version").values())))

    def catalog_transaction_begin(self, *, attach_opaque_data: AttachOpaqueData) -> TransactionOpaqueData:
        found = self.call("catalog_transaction_begin", {"attach_opaque_data": attach_opaque_data})
        return TransactionOpaqueData(next(iter(decode(found, "a TransactionBeginResponse").values())))

    def catalog_transaction_commit(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        self.call("catalog_transaction_commit", in_values(attach_opaque_data, transaction_opaque_data))

    def catalog_transaction_rollback(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        self.call("catalog_transaction_rollback", in_values(attach_opaque_data, transaction_opaque_data))

    # --- schemas -------------------------------------------------------------------------------------------------

    def schemas(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn = None) -> list[SchemaInfo]:
        items = self._items("catalog_schemas", in_values(attach_opaque_data, transaction_opaque_data))
        return [schema_from_record(item, attach_opaque_data) for item in items]

    def schema_get(
        self, *, attach_opaque_data: AttachOpaqueData, name: Path, transaction_opaque_data: Txn = None
    ) -> SchemaInfo | None:
        values = {**in_values(attach_opaque_data, transaction_opaque_data), "path": path_of(name)}
        found = self._items("catalog_schema_get", values)
        return schema_from_record(found[0], attach_opaque_data) if found else None

    def schema_create(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        name: Path,
        on_conflict: OnConflict = OnConflict.ERROR,
        comment: str | None = None,
        tags: Mapping[str, str] | None = None,
        transaction_opaque_data: Txn = None,
    ) -> None:
        values = {"path": path_of(name), "on_conflict": on_conflict.name, "comment": comment, "tags": tags or {}}
        self.call("catalog_schema_create", {**in_values(attach_opaque_data, transaction_opaque_data), **values})

    def schema_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        name: Path,
        ignore_not_found: bool = False,
        cascade: bool = False,
        transaction_opaque_data: Txn = None,
    ) -> None:
        values = {"path": path_of(name), "ignore_not_found": ignore_not_found, "cascade": cascade}
        self.call("catalog_schema_drop", {**in_values(attach_opaque_data, transaction_opaque_data), **values})

    def schema_contents(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        name: Path,
        type: SchemaObjectType | None = None,
        transaction_opaque_data: Txn = None,
    ) -> Iterator[TableInfo | ViewInfo | FunctionInfo]:
        """Yields all objects in a schema, or those of one kind."""
        values = {**in_values(attach_opaque_data, transaction_opaque_data), "path": path_of(name)}
        if type in (None, SchemaObjectType.TABLE):
            yield from map(table_from_record, self._items("catalog_schema_contents_tables", values))
        if type in (None, SchemaObjectType.VIEW):
            yield from map(view_from_record, self._items("catalog_schema_contents_views", values))
        for kind in (SchemaObjectType.SCALAR_FUNCTION, SchemaObjectType.TABLE_FUNCTION):
            if type in (None, kind):
                items = self._items("catalog_schema_contents_functions", {**values, "type": kind.name})
                yield from (info for info in map(function_from_record, items) if info is not None)


def _options(options: Mapping[str, Any] | None) -> bytes | None:
    return stream_of(pa.RecordBatch.from_pylist([dict(options)])) if options else None
