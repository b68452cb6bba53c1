"""The methods of a client for tables and views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from pinakes.worker.catalog.infos import ScanFunctionResult, TableInfo, ViewInfo
from pinakes.worker.catalog.names import AttachOpaqueData, OnConflict, SerializedSchema
from pinakes.worker.catalog.records import scan_result_from, table_from_record, view_from_record
from pinakes.worker.client.call_mixin import CallMixin, Named, Path, Txn, in_values, of_values, where_values
from pinakes.worker.wire import schemas
from pinakes.worker.wire.records import encode


class TableClientMixin(CallMixin):
    """Methods for tables and views. `where` names the table or view: attach_opaque_data, schema_name, name, and
    optionally transaction_opaque_data.
    """

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
        values = {**of_values(schema_name, name), "at_unit": at_unit, "at_value": at_value}
        found = self._items("catalog_table_get", {**in_values(attach_opaque_data, transaction_opaque_data), **values})
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
            **in_values(attach_opaque_data, transaction_opaque_data),
            **of_values(schema_name, name),
            "columns": columns,
            "on_conflict": on_conflict.name,
            "not_null_constraints": list(not_null_constraints),
            "unique_constraints": [list(group) for group in unique_constraints],
            "check_constraints": list(check_constraints),
            "primary_key_constraints": [],
            "foreign_key_constraints": [],
        }
        self.call("catalog_table_create", {"request": encode(schemas.TABLE_CREATE_REQUEST, values)})

    def table_drop(self, *, ignore_not_found: bool = False, cascade: bool = False, **where: Unpack[Named]) -> None:
        self._table("drop", where, ignore_not_found=ignore_not_found, cascade=cascade)

    def table_rename(self, *, new_name: str, ignore_not_found: bool = False, **where: Unpack[Named]) -> None:
        self._table("rename", where, new_name=new_name, ignore_not_found=ignore_not_found)

    def table_comment_set(self, *, comment: str | None, ignore_not_found: bool = False, **where: Unpack[Named]) -> None:
        self._table("comment_set", where, comment=comment, ignore_not_found=ignore_not_found)

    def table_column_comment_set(
        self, *, column_name: str, comment: str | None, ignore_not_found: bool = False, **where: Unpack[Named]
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
        **where: Unpack[Named],
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
        **where: Unpack[Named],
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
        self, *, column_name: str, new_column_name: str, ignore_not_found: bool = False, **where: Unpack[Named]
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
        **where: Unpack[Named],
    ) -> None:
        self._table(
            "column_type_change",
            where,
            column_definition=column_definition,
            expression=expression,
            ignore_not_found=ignore_not_found,
        )

    def table_column_default_set(
        self, *, column_name: str, expression: str, ignore_not_found: bool = False, **where: Unpack[Named]
    ) -> None:
        self._table(
            "column_default_set",
            where,
            column_name=column_name,
            expression=expression,
            ignore_not_found=ignore_not_found,
        )

    def table_column_default_drop(
        self, *, column_name: str, ignore_not_found: bool = False, **where: Unpack[Named]
    ) -> None:
        self._table("column_default_drop", where, column_name=column_name, ignore_not_found=ignore_not_found)

    def table_not_null_set(self, *, column_name: str, ignore_not_found: bool = False, **where: Unpack[Named]) -> None:
        self._table("not_null_set", where, column_name=column_name, ignore_not_found=ignore_not_found)

    def table_not_null_drop(self, *, column_name: str, ignore_not_found: bool = False, **where: Unpack[Named]) -> None:
        self._table("not_null_drop", where, column_name=column_name, ignore_not_found=ignore_not_found)

    def table_scan_function_get(
        self, *, at_unit: str | None = None, at_value: str | None = None, **where: Unpack[Named]
    ) -> ScanFunctionResult:
        values = {**where_values(where), "at_unit": at_unit, "at_value": at_value}
        return scan_result_from(self.call("catalog_table_scan_function_get", values))

    # --- views ---------------------------------------------------------------------------------------------------

    def view_get(self, **where: Unpack[Named]) -> ViewInfo | None:
        found = self._items("catalog_view_get", where_values(where))
        return view_from_record(found[0]) if found else None

    def view_create(
        self, *, definition: str, on_conflict: OnConflict = OnConflict.ERROR, **where: Unpack[Named]
    ) -> None:
        values = {"definition": definition, "on_conflict": on_conflict.name}
        self.call("catalog_view_create", {**where_values(where), **values})

    def view_drop(self, *, ignore_not_found: bool = False, cascade: bool = False, **where: Unpack[Named]) -> None:
        values = {"ignore_not_found": ignore_not_found, "cascade": cascade}
        self.call("catalog_view_drop", {**where_values(where), **values})

    def view_rename(self, *, new_name: str, ignore_not_found: bool = False, **where: Unpack[Named]) -> None:
        values = {"new_name": new_name, "ignore_not_found": ignore_not_found}
        self.call("catalog_view_rename", {**where_values(where), **values})

    def view_comment_set(self, *, comment: str | None, ignore_not_found: bool = False, **where: Unpack[Named]) -> None:
        values = {"comment": comment, "ignore_not_found": ignore_not_found}
        self.call("catalog_view_comment_set", {**where_values(where), **values})

    def _table(self, change: str, where: Named, **values: Any) -> None:
        self.call(f"catalog_table_{change}", {**where_values(where), **values})
