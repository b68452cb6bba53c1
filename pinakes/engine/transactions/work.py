"""One table within a transaction: its state at the first read, and the transaction's changes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, cast

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AddSnapshotUpdate,
    AssertCreate,
    AssertCurrentSchemaId,
    AssertDefaultSpecId,
    AssertLastAssignedFieldId,
    AssertLastAssignedPartitionId,
    AssertRefSnapshotId,
    AssertTableUUID,
    RemoveSnapshotRefUpdate,
    SetSnapshotRefUpdate,
    TableRequirement,
    TableUpdate,
    update_table_metadata,
)

from pinakes.core.catalog import TableChange
from pinakes.core.names import Namespace
from pinakes.providers.iceberg.metadata_updates import apply_updates, commit_response


class TableWork:
    """A table and its pending changes. `base` is the table as loaded from the catalog, or as staged if the transaction
    creates it. Changes are made within `changing`, which raises once the transaction has ended.
    """

    def __init__(
        self,
        base: Table,
        changing: Callable[[], AbstractContextManager[None]],
        created_by: tuple[TableUpdate, ...] = (),
    ) -> None:
        self.base = base
        self._changing = changing
        self.is_new = bool(created_by)
        self.updates = created_by
        self.metadata = _created(created_by) if self.is_new else base.metadata

    @property
    def table(self) -> Table:
        """The table as the statements of the transaction see it. Their commits call `commit_table` here."""
        base = self.base
        return Table(base.name(), self.metadata, base.metadata_location, base.io, cast("Any", self), base.config)

    def rename(self, namespace: Namespace, name: str) -> None:
        base = self.base
        self.base = Table((*namespace, name), base.metadata, base.metadata_location, base.io, base.catalog, base.config)

    @property
    def is_changed(self) -> bool:
        return bool(self.updates)

    def change(self) -> TableChange:
        """Returns all pending updates as one change for the catalog."""
        requirements = (AssertCreate(),) if self.is_new else tuple(_unchanged(self.base.metadata, self.updates))
        return TableChange(self.base, requirements, self.updates)

    def new_snapshots(self) -> set[int]:
        return {u.snapshot.snapshot_id for u in self.updates if isinstance(u, AddSnapshotUpdate)}

    # --- the methods that pyiceberg calls on a table's catalog ----------------------------------------------------

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        with self._changing():
            for requirement in requirements:
                requirement.validate(self.metadata)
            self.metadata = apply_updates(self.metadata, updates)
            self.updates += updates
        return commit_response(self.metadata, self.base.metadata_location)

    def load_table(self, identifier: object) -> Table:
        return self.table

    def _delete_old_metadata(self, *_: object) -> None:
        """Does nothing: no metadata file is written before the transaction ends."""


def _created(updates: tuple[TableUpdate, ...]) -> TableMetadata:
    empty = MetastoreCatalog._empty_table_metadata()
    return update_table_metadata(base_metadata=empty, updates=updates, enforce_validation=True)


def _unchanged(base: TableMetadata, updates: tuple[TableUpdate, ...]) -> Iterator[TableRequirement]:
    """The requirements of the commit: no concurrent change of anything that the updates build on."""
    yield AssertTableUUID.model_validate({"uuid": base.table_uuid})
    yield AssertCurrentSchemaId.model_validate({"current-schema-id": base.current_schema_id})
    yield AssertDefaultSpecId.model_validate({"default-spec-id": base.default_spec_id})
    if any(isinstance(u, AddSchemaUpdate) for u in updates):
        yield AssertLastAssignedFieldId.model_validate({"last-assigned-field-id": base.last_column_id})
    if any(isinstance(u, AddPartitionSpecUpdate) for u in updates):
        yield AssertLastAssignedPartitionId.model_validate({"last-assigned-partition-id": base.last_partition_id})
    moved = {u.ref_name for u in updates if isinstance(u, SetSnapshotRefUpdate | RemoveSnapshotRefUpdate)}
    for name in sorted(moved):
        ref = base.refs.get(name)
        yield AssertRefSnapshotId.model_validate({"ref": name, "snapshot-id": ref.snapshot_id if ref else None})
