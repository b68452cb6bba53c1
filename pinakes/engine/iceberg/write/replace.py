"""CREATE OR REPLACE TABLE: replaces rows, schema and partitioning in one commit, and keeps the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    RemovePropertiesUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSpecUpdate,
    SetPropertiesUpdate,
    TableUpdate,
    UpgradeFormatVersionUpdate,
)

from pinakes.core.catalog import IcebergTable, TableSpec
from pinakes.core.iceberg_metadata import CHECKS
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.definition import FORMAT_VERSION, format_version
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.loaded import forget
from pinakes.engine.iceberg.write.overwrite import Files, overwrite
from pinakes.engine.iceberg.write.sort_order import moved_order, order_updates


def replace_table(
    table: IcebergTable,
    found: ResolvedTable,
    spec: TableSpec,
    batches: Iterable[pa.RecordBatch],
    check: Callable[[], None],
    *,
    ordered: bool = False,
) -> int:
    """Replaces the definition and rows of a table, and returns the number of rows.

    `check` raises if the statement was cancelled before the commit.
    """
    handle = table.handle
    transaction = begin(table)
    hold_schema(transaction)
    forget(transaction)
    transaction._apply(_definition(table, spec))
    with FileWriter(transaction.table_metadata, handle.io, ordered=ordered) as writer:
        writer.write_all(batches)
        check()
        if writer.files or handle.current_snapshot() is not None:
            overwrite(transaction, Files(added=writer.files, everything=True), Operation.OVERWRITE)
        commit(transaction, found.place, found.name)
        writer.keep()
    return writer.rows


def _definition(table: IcebergTable, spec: TableSpec) -> tuple[TableUpdate, ...]:
    """Returns the updates of the definition. Columns get new ids, so that old files are never read under a new name."""
    metadata = table.handle.metadata
    last = iter(range(metadata.last_column_id + 1, metadata.last_column_id + 100_000))
    schema = assign_fresh_schema_ids(spec.schema, lambda: next(last))
    schema = schema.model_copy(update={"schema_id": max(s.schema_id for s in metadata.schemas) + 1})
    partitioning = _moved(spec.partitioning, spec.schema, schema, metadata.last_partition_id or 999)
    updates: list[TableUpdate] = [
        UpgradeFormatVersionUpdate.model_validate(
            {"action": "upgrade-format-version", "format-version": format_version(spec.properties, table)}
        ),
        AddSchemaUpdate(schema=schema),
        SetCurrentSchemaUpdate.model_validate({"action": "set-current-schema", "schema-id": -1}),
        *_spec_updates(metadata, partitioning),
        *order_updates(metadata, moved_order(spec.sorting, spec.schema, schema)),
    ]
    stale = [key for key in metadata.properties if key.startswith(CHECKS) and key not in spec.properties]
    if stale:
        updates.append(RemovePropertiesUpdate(removals=stale))
    properties = {k: v for k, v in spec.properties.items() if k != FORMAT_VERSION}
    if properties:
        updates.append(SetPropertiesUpdate(updates=properties))
    return tuple(updates)


def _spec_updates(metadata: TableMetadata, partitioning: list[PartitionField]) -> tuple[TableUpdate, ...]:
    """Returns the updates of the spec. An existing spec is reused, as a REST server would: our files refer to its
    id.
    """
    known = next((s.spec_id for s in metadata.partition_specs if not s.fields and not partitioning), None)
    if known is not None:
        return (SetDefaultSpecUpdate.model_validate({"action": "set-default-spec", "spec-id": known}),)
    added = PartitionSpec(*partitioning, spec_id=max(s.spec_id for s in metadata.partition_specs) + 1)
    return (
        AddPartitionSpecUpdate(spec=added),
        SetDefaultSpecUpdate.model_validate({"action": "set-default-spec", "spec-id": -1}),
    )


def _moved(spec: PartitionSpec, old: Schema, new: Schema, last: int) -> list[PartitionField]:
    """Returns the partition fields over the renumbered columns."""
    return [
        PartitionField(new.find_field(old.find_column_name(f.source_id) or "").field_id, last + n, f.transform, f.name)
        for n, f in enumerate(spec.fields, 1)
    ]
