"""Implements the catalog interface of the protocol for a declared catalog (`descriptors.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from pinakes.worker.catalog.descriptors import Catalog, Schema, Table
from pinakes.worker.catalog.infos import CatalogAttachResult, ScanFunctionResult, SchemaInfo, TableInfo, ViewInfo
from pinakes.worker.catalog.interface import SchemaObject, Txn
from pinakes.worker.catalog.names import AttachOpaqueData, SchemaObjectType
from pinakes.worker.catalog.read_only import ReadOnlyCatalogInterface, is_wanted

Scan = Callable[..., ScanFunctionResult]


class DeclaredCatalog(ReadOnlyCatalogInterface):
    """A read-only catalog from declarations. `scan` returns the scan function of tables that no function backs."""

    def __init__(self, declared: Catalog, scan: Scan | None = None) -> None:
        self._declared = declared
        self._scan = scan

    def catalogs(self) -> Iterable[str]:
        return [self._declared.name]

    def catalog_attach(self, *, name: str, options: dict[str, Any]) -> CatalogAttachResult:
        if name != self._declared.name:
            raise ValueError(f"catalog '{name}' does not exist; available: {self._declared.name}")
        return CatalogAttachResult(
            attach_opaque_data=AttachOpaqueData(name.encode()),
            catalog_version_frozen=True,
            catalog_version=1,
            default_schema=self._declared.default_schema,
            comment=self._declared.comment,
            tags=self._declared.tags,
        )

    def schemas(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn) -> Iterable[str]:
        return [schema.name for schema in self._declared.schemas]

    def schema_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, name: str
    ) -> SchemaInfo | None:
        found = self._declared.schema(name)
        if found is None:
            return None
        return SchemaInfo(
            attach_opaque_data=attach_opaque_data, name=found.name, comment=found.comment, tags=found.tags
        )

    def schema_contents(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        name: str,
        type: SchemaObjectType | None = None,
    ) -> Iterable[SchemaObject]:
        schema = self._require(name)
        if type in (None, SchemaObjectType.TABLE):
            yield from (table.info(name) for table in schema.tables)
        if type in (None, SchemaObjectType.VIEW):
            yield from (view.info(name) for view in schema.views)
        yield from (f.info(name) for f in schema.all_functions() if is_wanted(f, type))

    def table_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, schema_name: str, name: str
    ) -> TableInfo | None:
        found = self._table(schema_name, name)
        return found.info(schema_name) if found is not None else None

    def view_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, schema_name: str, name: str
    ) -> ViewInfo | None:
        schema = self._declared.schema(schema_name)
        found = [v for v in schema.views if v.name == name] if schema is not None else []
        return found[0].info(schema_name) if found else None

    def table_scan_function_get(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        at_unit: str | None,
        at_value: str | None,
    ) -> ScanFunctionResult:
        table = self._table(schema_name, name)
        if table is None:
            raise ValueError(f"table '{schema_name}.{name}' does not exist")
        if table.function is not None:
            scalars = {n: pa.scalar(v, table.function.ARGUMENTS.field(n).type) for n, v in table.arguments.items()}
            return ScanFunctionResult(function_name=table.function.function_name(), named_arguments=scalars)
        if self._scan is None:
            raise NotImplementedError(
                f"table '{schema_name}.{name}' has explicit columns: its worker must implement table_scan_function_get"
            )
        return self._scan(
            attach_opaque_data=attach_opaque_data,
            transaction_opaque_data=transaction_opaque_data,
            schema_name=schema_name,
            name=name,
            at_unit=at_unit,
            at_value=at_value,
        )

    def _require(self, name: str) -> Schema:
        found = self._declared.schema(name)
        if found is None:
            known = ", ".join(schema.name for schema in self._declared.schemas)
            raise ValueError(f"schema '{name}' does not exist; available: {known or 'none'}")
        return found

    def _table(self, schema_name: str, name: str) -> Table | None:
        schema = self._declared.schema(schema_name)
        return next((t for t in schema.tables if t.name == name), None) if schema is not None else None
