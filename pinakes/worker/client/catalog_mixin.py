"""The catalog methods of a client, one per method of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.worker.catalog.infos import (
    CatalogAttachResult,
    FunctionInfo,
    ScanFunctionResult,
    SchemaInfo,
    TableInfo,
    ViewInfo,
)
from pinakes.worker.catalog.names import (
    AttachOpaqueData,
    OnConflict,
    SchemaObjectType,
    SerializedSchema,
    TransactionOpaqueData,
)
from pinakes.worker.catalog.records import (
    attached_from,
    function_from_record,
    path_of,
    scan_result_from,
    schema_from_record,
    table_from_record,
    view_from_record,
)
from pinakes.worker.wire import schemas
from pinakes.worker.wire.records import decode, encode, stream_of

Txn = TransactionOpaqueData | None
Path = str | Sequence[str]
"""The name of a schema; its levels, where there are several."""


class CatalogClientMixin:
    """To be mixed into a `Client`: `class CatalogClient(CatalogClientMixin, Client)`."""

    if TYPE_CHECKING:  # the client's own: it comes after this class

        def call(self, method: str, values: Mapping[str, Any] | None = None) -> bytes | None: ...

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
        found = self.call("catalog_version", _in(attach_opaque_data, transaction_opaque_data))
        return int(next(iter(decode(found, "the answer of catalog_version").values())))

    def catalog_transaction_begin(self, *, attach_opaque_data: AttachOpaqueData) -> TransactionOpaqueData:
        found = self.call("catalog_transaction_begin", {"attach_opaque_data": attach_opaque_data})
        return TransactionOpaqueData(next(iter(decode(found, "a TransactionBeginResponse").values())))

    def catalog_transaction_commit(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        self.call("catalog_transaction_commit", _in(attach_opaque_data, transaction_opaque_data))

    def catalog_transaction_rollback(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        self.call("catalog_transaction_rollback", _in(attach_opaque_data, transaction_opaque_data))

    # --- schemas -------------------------------------------------------------------------------------------------

    def schemas(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn = None) -> list[SchemaInfo]:
        items = self._items("catalog_schemas", _in(attach_opaque_data, transaction_opaque_data))
        return [schema_from_record(item, attach_opaque_data) for item in items]

    def schema_get(
        self, *, attach_opaque_data: AttachOpaqueData, name: Path, transaction_opaque_data: Txn = None
    ) -> SchemaInfo | None:
        values = {**_in(attach_opaque_data, transaction_opaque_data), "path": path_of(name)}
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
        self.call("catalog_schema_create", {**_in(attach_opaque_data, transaction_opaque_data), **values})

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
        self.call("catalog_schema_drop", {**_in(attach_opaque_data, transaction_opaque_data), **values})

    def schema_contents(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        name: Path,
        type: SchemaObjectType | None = None,
        transaction_opaque_data: Txn = None,
    ) -> Iterator[TableInfo | ViewInfo | FunctionInfo]:
        """Everything in a schema, or all of one kind."""
        values = {**_in(attach_opaque_data, transaction_opaque_data), "path": path_of(name)}
        if type in (None, SchemaObjectType.TABLE):
            yield from map(table_from_record, self._items("catalog_schema_contents_tables", values))
        if type in (None, SchemaObjectType.VIEW):
            yield from map(view_from_record, self._items("catalog_schema_contents_views", values))
        for kind in (SchemaObjectType.SCALAR_FUNCTION, SchemaObjectType.TABLE_FUNCTION):
            if type in (None, kind):
                items = self._items("catalog_schema_contents_functions", {**values, "type": kind.name})
                yield from (info for info in map(function_from_record, items) if info is not None)

    # --- tables --------------------------------------------------------------------------------------------------

    def table_get(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        schema_name: Path,
        name: str,
        at_unit: str | None = None,
        at_value: str | None = None,
        transaction_opaque_data: Txn = None,
    ) -> TableInfo | None:
        values = {**_of(schema_name, name), "at_unit": at_unit, "at_value": at_value}
        found = self._items("catalog_table_get", {**_in(attach_opaque_data, transaction_opaque_data), **values})
        return table_from_record(found[0]) if found else None

    def table_create(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        schema_name: Path,
        name: str,
        columns: SerializedSchema,
        on_conflict: OnConflict = OnConflict.ERROR,
        not_null_constraints: Sequence[int] = (),
        unique_constraints: Sequence[Sequence[int]] = (),
        check_constraints: Sequence[str] = (),
        transaction_opaque_data: Txn = None,
    ) -> None:
        values = {
            **_in(attach_opaque_data, transaction_opaque_data),
            **_of(schema_name, name),
            "columns": columns,
            "on_conflict": on_conflict.name,
            "not_null_constraints": list(not_null_constraints),
            "unique_constraints": [list(group) for group in unique_constraints],
            "check_constraints": list(check_constraints),
            "primary_key_constraints": [],
            "foreign_key_constraints": [],
        }
        self.call("catalog_table_create", {"request": encode(schemas.TABLE_CREATE_REQUEST, values)})

    def table_drop(self, *, ignore_not_found: bool = False, cascade: bool = False, **where: Any) -> None:
        self._table("drop", where, ignore_not_found=ignore_not_found, cascade=cascade)

    def table_rename(self, *, new_name: str, ignore_not_found: bool = False, **where: Any) -> None:
        self._table("rename", where, new_name=new_name, ignore_not_found=ignore_not_found)

    def table_comment_set(self, *, comment: str | None, ignore_not_found: bool = False, **where: Any) -> None:
        self._table("comment_set", where, comment=comment, ignore_not_found=ignore_not_found)

    def table_column_comment_set(
        self, *, column_name: str, comment: str | None, ignore_not_found: bool = False, **where: Any
    ) -> None:
        self._table(
            "column_comment_set", where, column_name=column_name, comment=comment, ignore_not_found=ignore_not_found
        )

    def table_column_add(
        self,
        *,
        column_definition: SerializedSchema,
        ignore_not_found: bool = False,
        if_column_not_exists: bool = False,
        **where: Any,
    ) -> None:
        self._table(
            "column_add",
            where,
            column_definition=column_definition,
            ignore_not_found=ignore_not_found,
            if_column_not_exists=if_column_not_exists,
        )

    def table_column_drop(
        self,
        *,
        column_name: str,
        ignore_not_found: bool = False,
        if_column_exists: bool = False,
        cascade: bool = False,
        **where: Any,
    ) -> None:
        self._table(
            "column_drop",
            where,
            column_name=column_name,
            ignore_not_found=ignore_not_found,
            if_column_exists=if_column_exists,
            cascade=cascade,
        )

    def table_column_rename(
        self, *, column_name: str, new_column_name: str, ignore_not_found: bool = False, **where: Any
    ) -> None:
        self._table(
            "column_rename",
            where,
            column_name=column_name,
            new_column_name=new_column_name,
            ignore_not_found=ignore_not_found,
        )

    def table_column_type_change(
        self,
        *,
        column_definition: SerializedSchema,
        expression: str | None = None,
        ignore_not_found: bool = False,
        **where: Any,
    ) -> None:
        self._table(
            "column_type_change",
            where,
            column_definition=column_definition,
            expression=expression,
            ignore_not_found=ignore_not_found,
        )

    def table_column_default_set(
        self, *, column_name: str, expression: str, ignore_not_found: bool = False, **where: Any
    ) -> None:
        self._table(
            "column_default_set",
            where,
            column_name=column_name,
            expression=expression,
            ignore_not_found=ignore_not_found,
        )

    def table_column_default_drop(self, *, column_name: str, ignore_not_found: bool = False, **where: Any) -> None:
        self._table("column_default_drop", where, column_name=column_name, ignore_not_found=ignore_not_found)

    def table_not_null_set(self, *, column_name: str, ignore_not_found: bool = False, **where: Any) -> None:
        self._table("not_null_set", where, column_name=column_name, ignore_not_found=ignore_not_found)

    def table_not_null_drop(self, *, column_name: str, ignore_not_found: bool = False, **where: Any) -> None:
        self._table("not_null_drop", where, column_name=column_name, ignore_not_found=ignore_not_found)

    def table_scan_function_get(
        self, *, at_unit: str | None = None, at_value: str | None = None, **where: Any
    ) -> ScanFunctionResult:
        values = {**_where(where), "at_unit": at_unit, "at_value": at_value}
        return scan_result_from(self.call("catalog_table_scan_function_get", values))

    # --- views ---------------------------------------------------------------------------------------------------

    def view_get(self, **where: Any) -> ViewInfo | None:
        found = self._items("catalog_view_get", _where(where))
        return view_from_record(found[0]) if found else None

    def view_create(self, *, definition: str, on_conflict: OnConflict = OnConflict.ERROR, **where: Any) -> None:
        values = {"definition": definition, "on_conflict": on_conflict.name}
        self.call("catalog_view_create", {**_where(where), **values})

    def view_drop(self, *, ignore_not_found: bool = False, cascade: bool = False, **where: Any) -> None:
        values = {"ignore_not_found": ignore_not_found, "cascade": cascade}
        self.call("catalog_view_drop", {**_where(where), **values})

    def view_rename(self, *, new_name: str, ignore_not_found: bool = False, **where: Any) -> None:
        values = {"new_name": new_name, "ignore_not_found": ignore_not_found}
        self.call("catalog_view_rename", {**_where(where), **values})

    def view_comment_set(self, *, comment: str | None, ignore_not_found: bool = False, **where: Any) -> None:
        values = {"comment": comment, "ignore_not_found": ignore_not_found}
        self.call("catalog_view_comment_set", {**_where(where), **values})

    # --- how -----------------------------------------------------------------------------------------------------

    def _items(self, method: str, values: Mapping[str, Any]) -> list[bytes]:
        return decode(self.call(method, values), f"the answer of {method}").get("items") or []

    def _table(self, change: str, where: Mapping[str, Any], **values: Any) -> None:
        self.call(f"catalog_table_{change}", {**_where(where), **values})


def _where(given: Mapping[str, Any]) -> dict[str, Any]:
    """Which table or view: attach_opaque_data, schema_name, name, and transaction_opaque_data if there is one."""
    unknown = set(given) - {"attach_opaque_data", "schema_name", "name", "transaction_opaque_data"}
    if unknown:
        raise TypeError(f"unknown argument {min(unknown)!r}")
    return {
        **_in(given["attach_opaque_data"], given.get("transaction_opaque_data")),
        **_of(given["schema_name"], given["name"]),
    }


def _in(attach: AttachOpaqueData, transaction: Txn) -> dict[str, Any]:
    return {"attach_opaque_data": attach, "transaction_opaque_data": transaction}


def _of(schema: Path, name: str) -> dict[str, Any]:
    return {"schema_path": path_of(schema), "name": name}


def _options(options: Mapping[str, Any] | None) -> bytes | None:
    return stream_of(pa.RecordBatch.from_pylist([dict(options)])) if options else None
