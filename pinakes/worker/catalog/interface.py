"""The interface of a catalog: subclass `CatalogInterface` and implement the abstract methods and any others you
support.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    SqlExpression,
    TransactionOpaqueData,
)

Txn = TransactionOpaqueData | None
SchemaObject = TableInfo | ViewInfo | FunctionInfo


class CatalogInterface(ABC):
    """The operations of a catalog. Methods that are not abstract have a default: most raise NotImplementedError, which
    the caller reports as not supported by this catalog.
    """

    # --- catalogs ------------------------------------------------------------------------------------------------

    @abstractmethod
    def catalogs(self) -> Iterable[str]:
        """Returns the names of the catalogs."""

    @abstractmethod
    def catalog_attach(self, *, name: str, options: dict[str, Any]) -> CatalogAttachResult:
        """Attaches to a catalog."""

    def catalog_create(self, *, name: str, on_conflict: OnConflict, options: dict[str, Any]) -> None:
        raise _unsupported("catalog_create")

    def catalog_drop(self, *, name: str) -> None:
        raise _unsupported("catalog_drop")

    def catalog_detach(self, *, attach_opaque_data: AttachOpaqueData) -> None:  # noqa: B027 - to do nothing is right
        """Releases an attachment that is no longer used."""

    def catalog_version(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn) -> int:
        """Returns a number that grows with each change of the catalog's contents."""
        return 0

    def loggable_attach_options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the options that may appear in logs; none, unless a subclass names those that are safe."""
        return {}

    # --- transactions --------------------------------------------------------------------------------------------

    def catalog_transaction_begin(self, *, attach_opaque_data: AttachOpaqueData) -> TransactionOpaqueData:
        raise _unsupported("catalog_transaction_begin")

    def catalog_transaction_commit(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        raise _unsupported("catalog_transaction_commit")

    def catalog_transaction_rollback(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: TransactionOpaqueData
    ) -> None:
        raise _unsupported("catalog_transaction_rollback")

    # --- schemas -------------------------------------------------------------------------------------------------

    def schemas(self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn) -> Iterable[str]:
        """Returns the names of the schemas."""
        return ["main"]

    @abstractmethod
    def schema_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, name: str
    ) -> SchemaInfo | None:
        """Returns a schema, or None."""

    def schema_create(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        name: str,
        on_conflict: OnConflict,
        comment: str | None,
        tags: Mapping[str, str],
    ) -> None:
        raise _unsupported("schema_create")

    def schema_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        name: str,
        ignore_not_found: bool,
        cascade: bool,
    ) -> None:
        raise _unsupported("schema_drop")

    def schema_contents(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        name: str,
        type: SchemaObjectType | None = None,
    ) -> Iterable[SchemaObject]:
        """Returns the contents of a schema: all objects, or those of one kind."""
        raise _unsupported("schema_contents")

    # --- tables --------------------------------------------------------------------------------------------------

    @abstractmethod
    def table_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, schema_name: str, name: str
    ) -> TableInfo | None:
        """Returns a table, or None."""

    def table_create(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        columns: SerializedSchema,
        on_conflict: OnConflict,
        not_null_constraints: Sequence[int],
        unique_constraints: Sequence[Sequence[int]],
        check_constraints: Sequence[str],
    ) -> None:
        """Creates a table. The default of a column is in the metadata of its field, under b"default"; its comment under
        b"comment".
        """
        raise _unsupported("table_create")

    def table_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        ignore_not_found: bool,
        cascade: bool,
    ) -> None:
        raise _unsupported("table_drop")

    def table_rename(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        new_name: str,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_rename")

    def table_comment_set(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        comment: str | None,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_comment_set")

    def table_column_comment_set(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        comment: str | None,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_column_comment_set")

    def table_column_add(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_definition: SerializedSchema,
        ignore_not_found: bool,
        if_column_not_exists: bool,
    ) -> None:
        """Adds a column; its definition is a schema of one field."""
        raise _unsupported("table_column_add")

    def table_column_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        ignore_not_found: bool,
        if_column_exists: bool,
        cascade: bool,
    ) -> None:
        raise _unsupported("table_column_drop")

    def table_column_rename(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        new_column_name: str,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_column_rename")

    def table_column_type_change(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_definition: SerializedSchema,
        expression: SqlExpression | None,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_column_type_change")

    def table_column_default_set(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        expression: SqlExpression,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_column_default_set")

    def table_column_default_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_column_default_drop")

    def table_not_null_set(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_not_null_set")

    def table_not_null_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        column_name: str,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("table_not_null_drop")

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
        """Returns how to read the table; at_unit (VERSION or TIMESTAMP) and at_value are set for time travel
        queries.
        """
        raise _unsupported("table_scan_function_get")

    # --- views ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def view_get(
        self, *, attach_opaque_data: AttachOpaqueData, transaction_opaque_data: Txn, schema_name: str, name: str
    ) -> ViewInfo | None:
        """Returns a view, or None."""

    def view_create(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        definition: str,
        on_conflict: OnConflict,
    ) -> None:
        raise _unsupported("view_create")

    def view_drop(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        ignore_not_found: bool,
        cascade: bool,
    ) -> None:
        raise _unsupported("view_drop")

    def view_rename(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        new_name: str,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("view_rename")

    def view_comment_set(
        self,
        *,
        attach_opaque_data: AttachOpaqueData,
        transaction_opaque_data: Txn,
        schema_name: str,
        name: str,
        comment: str | None,
        ignore_not_found: bool,
    ) -> None:
        raise _unsupported("view_comment_set")


def _unsupported(method: str) -> NotImplementedError:
    return NotImplementedError(f"this catalog does not support {method}")
