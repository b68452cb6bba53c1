"""A branch of a table as a table: code that changes the main branch also works on a branch.

The metadata shows the branch as main; commits are redirected to the branch in the real catalog.
"""

from __future__ import annotations

from typing import Any, cast

from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from pyiceberg.table.update import AssertRefSnapshotId, SetSnapshotRefUpdate, TableRequirement, TableUpdate

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import InvalidArgument, VersionNotFound, listing
from pinakes.core.names import Part, match


def new_ref(snapshot_id: int, kind: SnapshotRefType) -> SnapshotRef:
    return SnapshotRef.model_validate({"snapshot-id": snapshot_id, "type": kind})


def on_branch(table: IcebergTable, wanted: Part) -> IcebergTable:
    """Returns the table at a branch, for reading and writing."""
    refs = table.handle.metadata.refs
    name = match(wanted, refs, "branch")
    if name is None:
        branches = [n for n, ref in refs.items() if ref.snapshot_ref_type == SnapshotRefType.BRANCH]
        raise VersionNotFound(
            f"table {table.name} has no branch {wanted}; it has: {listing(branches)}. "
            f"ALTER TABLE … CREATE BRANCH makes one."
        )
    if refs[name].snapshot_ref_type != SnapshotRefType.BRANCH:
        raise InvalidArgument(f"{wanted} is a tag of table {table.name}: only branches can be changed")
    if name == MAIN_BRANCH:
        return table
    return IcebergTable(table.namespace, table.name, _Branch(table.handle, name).table)


class _Branch:
    """The part of the catalog interface that pyiceberg needs for a table, redirected to a branch."""

    def __init__(self, real: Table, name: str) -> None:
        self._real = real
        self._name = name

    @property
    def table(self) -> Table:
        real = self._real
        metadata = _shown(real.metadata, self._name)
        return Table(real.name(), metadata, real.metadata_location, real.io, cast("Any", self), real.config)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        real = self._real
        done = real.catalog.commit_table(
            real, tuple(map(self._requirement, requirements)), tuple(map(self._update, updates))
        )
        real.metadata, real.metadata_location = done.metadata, done.metadata_location
        return CommitTableResponse.model_construct(
            metadata=_shown(done.metadata, self._name), metadata_location=done.metadata_location
        )

    def load_table(self, identifier: Any) -> Table:
        self._real = self._real.catalog.load_table(identifier)
        return self.table

    def _delete_old_metadata(self, io: Any, base: TableMetadata, metadata: TableMetadata) -> None:
        self._real.catalog._delete_old_metadata(io, base, metadata)

    def _requirement(self, requirement: TableRequirement) -> TableRequirement:
        if not isinstance(requirement, AssertRefSnapshotId) or requirement.ref != MAIN_BRANCH:
            return requirement
        return requirement.model_copy(update={"ref": self._name})

    def _update(self, update: TableUpdate) -> TableUpdate:
        """Redirects updates of main to the branch, and keeps the branch's retention settings."""
        if not isinstance(update, SetSnapshotRefUpdate) or update.ref_name != MAIN_BRANCH:
            return update
        kept = self._real.metadata.refs[self._name].model_dump(
            exclude={"snapshot_id", "snapshot_ref_type"}, by_alias=False
        )
        return update.model_copy(update={"ref_name": self._name, **kept})


def _shown(metadata: TableMetadata, branch: str) -> TableMetadata:
    if branch not in metadata.refs:
        raise VersionNotFound(f"branch {branch!r} was dropped meanwhile")
    head = metadata.refs[branch].snapshot_id
    main = new_ref(head, SnapshotRefType.BRANCH)
    return metadata.model_copy(update={"current_snapshot_id": head, "refs": {**metadata.refs, MAIN_BRANCH: main}})
