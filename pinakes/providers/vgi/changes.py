"""Changes of a worker's catalog, and transactions that the worker runs itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, assert_never

import pyarrow as pa

from pinakes.core import worker_tables as actions
from pinakes.core.catalog import TableSpec, ViewDefinition
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import Namespace, dotted
from pinakes.worker.catalog.names import OnConflict, SerializedSchema, TransactionOpaqueData
from pinakes.worker.wire.records import schema_bytes

if TYPE_CHECKING:
    from pinakes.core.worker_tables import TableAction
    from pinakes.providers.vgi.attachment import Attachment
    from pinakes.providers.vgi.catalog import VgiCatalog
    from pinakes.providers.vgi.transactions import VgiTransaction

ONLY_METADATA = "a worker's tables are filled by the worker: INSERT, UPDATE, DELETE and MERGE do not reach it"


class Changes:
    """The part of `VgiCatalog` that makes changes."""

    attachment: Attachment
    transaction: TransactionOpaqueData | None

    if TYPE_CHECKING:

        @property
        def _context(self) -> dict[str, Any]: ...

    # --- namespaces ----------------------------------------------------------------------------------------------

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        given = dict(properties)
        comment = given.pop("comment", None)
        tags = {key.removeprefix("tag."): value for key, value in given.items() if key.startswith("tag.")}
        unknown = [key for key in given if not key.startswith("tag.")]
        if unknown:
            raise NotSupportedError(f"a schema of a worker has a comment and tags, and no property {unknown[0]!r}")
        self.attachment.schema_create(name=namespace, comment=comment, tags=tags, **self._context)

    def drop_namespace(self, namespace: Namespace) -> None:
        self.attachment.schema_drop(name=namespace, **self._context)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        raise NotSupportedError(
            f"comments and tags of schema {dotted(namespace)} can't be changed: the worker protocol has no way to"
        )

    # --- tables --------------------------------------------------------------------------------------------------

    def define_table(
        self, namespace: Namespace, name: str, columns: pa.Schema, comment: str | None, *, replace: bool = False
    ) -> None:
        self.attachment.table_create(
            columns=SerializedSchema(schema_bytes(pa.schema([f.with_nullable(True) for f in columns]))),
            not_null_constraints=[number for number, f in enumerate(columns) if not f.nullable],
            on_conflict=OnConflict.REPLACE if replace else OnConflict.ERROR,
            **self._table(namespace, name),
        )
        if comment is not None:
            self.attachment.table_comment_set(comment=comment, **self._table(namespace, name))

    def create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> NoReturn:
        raise NotSupportedError(f"{dotted((*namespace, name))} would be no Iceberg table: {ONLY_METADATA}")

    def begin_create_table(self, namespace: Namespace, name: str, spec: TableSpec) -> NoReturn:
        raise NotSupportedError(f"CREATE TABLE … AS can't make {dotted((*namespace, name))}: {ONLY_METADATA}")

    def drop_table(self, namespace: Namespace, name: str, *, purge: bool = False) -> None:
        self.attachment.table_drop(**self._table(namespace, name))

    def rename_table(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self._same_schema(source, target)
        self.attachment.table_rename(new_name=target[1], **self._table(*source))

    def alter_table(self, namespace: Namespace, name: str, action: TableAction) -> None:
        table, worker = self._table(namespace, name), self.attachment
        match action:
            case actions.AddColumn(field, if_not_exists):
                worker.table_column_add(column_definition=_one(field), if_column_not_exists=if_not_exists, **table)
            case actions.DropColumn(column, if_exists):
                worker.table_column_drop(column_name=column, if_column_exists=if_exists, **table)
            case actions.RenameColumn(column, to):
                worker.table_column_rename(column_name=column, new_column_name=to, **table)
            case actions.ChangeType(field):
                worker.table_column_type_change(column_definition=_one(field), **table)
            case actions.SetDefault(column, expression):
                if expression is None:
                    worker.table_column_default_drop(column_name=column, **table)
                else:
                    worker.table_column_default_set(column_name=column, expression=expression, **table)
            case actions.SetRequired(column, required):
                change = worker.table_not_null_set if required else worker.table_not_null_drop
                change(column_name=column, **table)
            case actions.SetComment(comment, of):
                if of is None:
                    worker.table_comment_set(comment=comment, **table)
                else:
                    worker.table_column_comment_set(column_name=of, comment=comment, **table)
            case _:
                assert_never(action)

    # --- views ---------------------------------------------------------------------------------------------------

    def create_view(self, namespace: Namespace, name: str, view: ViewDefinition, *, replace: bool = False) -> None:
        conflict = OnConflict.REPLACE if replace else OnConflict.ERROR
        self.attachment.view_create(definition=view.sql, on_conflict=conflict, **self._table(namespace, name))
        if view.comment is not None:
            self.set_view_comment(namespace, name, view.comment)

    def set_view_comment(self, namespace: Namespace, name: str, comment: str | None) -> None:
        self.attachment.view_comment_set(comment=comment, **self._table(namespace, name))

    def drop_view(self, namespace: Namespace, name: str) -> None:
        self.attachment.view_drop(**self._table(namespace, name))

    def rename_view(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        self._same_schema(source, target)
        self.attachment.view_rename(new_name=target[1], **self._table(*source))

    # --- transactions --------------------------------------------------------------------------------------------

    @property
    def runs_transactions(self) -> bool:
        return self.attachment.attached.supports_transactions

    def begin_transaction(self: VgiCatalog) -> VgiTransaction:  # type: ignore[misc]  # it is that class
        from pinakes.providers.vgi.transactions import VgiTransaction

        data = self.attachment.catalog_transaction_begin(attach_opaque_data=self._context["attach_opaque_data"])
        return VgiTransaction(self.attachment, self._default, data)

    # --- internals -----------------------------------------------------------------------------------------------

    def _table(self, namespace: Namespace, name: str) -> dict[str, Any]:
        return {**self._context, "schema_name": namespace, "name": name}

    def _same_schema(self, source: tuple[Namespace, str], target: tuple[Namespace, str]) -> None:
        if source[0] != target[0]:
            raise NotSupportedError(
                f"{dotted((*source[0], source[1]))} can't move to the schema {dotted(target[0])}: a worker renames "
                f"within a schema"
            )


def _one(field: pa.Field) -> SerializedSchema:
    return SerializedSchema(schema_bytes(pa.schema([field])))
