"""A snapshot in which some files make place for others, also when the columns they were partitioned by are gone."""

from __future__ import annotations

from collections.abc import Iterable

from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _OverwriteFiles as OverwriteFiles


def overwrite(transaction: Transaction, old: Iterable[DataFile], new: Iterable[DataFile]) -> None:
    """Add a snapshot to the transaction that has the new files in place of the old ones."""
    is_first = transaction.table_metadata.current_snapshot() is None
    operation = Operation.APPEND if is_first else Operation.OVERWRITE
    with _Overwrite(operation=operation, transaction=transaction, io=transaction._table.io) as change:
        for file in old:
            change.delete_data_file(file)
        for file in new:
            change.append_data_file(file)


class _Overwrite(OverwriteFiles):
    """pyiceberg's writes the manifests of old files under the current schema, and fails where that lacks a column
    they are partitioned by: after its DROP, or after CREATE OR REPLACE TABLE, which renumbers all columns."""

    def schema(self) -> Schema:
        metadata = self._transaction.table_metadata
        return _with_partition_columns(metadata, super().schema())


def _with_partition_columns(metadata: TableMetadata, current: Schema) -> Schema:
    """The current columns, and behind them those that are gone and that some file may be partitioned by."""
    used = {field.source_id for spec in metadata.partition_specs for field in spec.fields}
    missing = used - set(current.field_ids)
    gone = {
        number: schema.find_field(number)
        for schema in metadata.schemas
        for number in missing.intersection(schema.field_ids)
    }
    if not gone:
        return current
    fields = [f.model_copy(update={"name": f"{f.name} {n}", "required": False}) for n, f in sorted(gone.items())]
    keys = current.identifier_field_ids
    return Schema(*current.fields, *fields, schema_id=current.schema_id, identifier_field_ids=keys)
