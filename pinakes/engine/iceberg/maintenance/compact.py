"""Compaction of data files: writes the same rows to fewer files, sorted by the table's order, without deleted rows.

The commit is one snapshot of operation `replace`: no row changes, so readers of changes skip it. Concurrent appends do
not conflict. Concurrent deletes from these files do, and then the compaction is retried. If the process is killed, the
new files are orphans and the table is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyiceberg.table.snapshots import Operation

from pinakes.core.errors import InternalError
from pinakes.core.names import quote
from pinakes.engine.binding.relation import Relation
from pinakes.engine.execution.batch_coalescer import gathered
from pinakes.engine.iceberg.maintenance.choosing import Group
from pinakes.engine.iceberg.maintenance.options import Choice
from pinakes.engine.iceberg.scan.deletes import NONE
from pinakes.engine.iceberg.scan.lineage import stored_with_lineage
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.full_file_delete import live_rows
from pinakes.engine.iceberg.write.overwrite import Files, overwrite
from pinakes.engine.iceberg.write.parquet.layout import TARGET_SIZE

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.sorting import SortOrder

    from pinakes.engine.iceberg.scan.deletes import DeleteFile
    from pinakes.engine.iceberg.write.rewrite import Rewrite


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction."""

    rewritten: int = 0
    added: int = 0
    rewritten_bytes: int = 0
    deletes: int = 0
    """Number of removed delete files."""


def compact(change: Rewrite, groups: Sequence[Group], choice: Choice, order: SortOrder | None = None) -> Compacted:
    """Rewrites the files of each group. `order` replaces the table's sort order."""
    removed = {number for group in groups for number in group}
    if not removed:
        return Compacted()
    metadata = _written_as(change, choice.target, order)
    dangling = [file for file in _dangling(change, removed) if choice.dangling or file.target is not None]
    with ExitStack() as stack:
        writers = []
        for group in groups:
            fits = sum(change.files.sizes[number] for number in group) <= choice.target
            writer = stack.enter_context(FileWriter(metadata, change.table.handle.io, ordered=fits))
            writer.write_all((), _rows(change, group))
            _check_whole(change, group, writer.rows)
            writers.append(writer)
        added = [file for writer in writers for file in writer.files]
        _commit(change, removed, added, dangling)
        for writer in writers:
            writer.keep()
    size = sum(change.files.sizes[number] for number in removed)
    return Compacted(len(removed), len(added), size, len(dangling))


def _written_as(change: Rewrite, target: int, order: SortOrder | None) -> TableMetadata:
    """Returns the metadata that the writer uses."""
    metadata = change.table.handle.metadata
    properties = {**metadata.properties, TARGET_SIZE: str(target)}
    updates: dict[str, object] = {"properties": properties}
    if order is not None:  # files refer to the table's orders by id; this one gets 0, the id of unsorted
        updates |= {"sort_orders": [order.model_copy(update={"order_id": 0})], "default_sort_order_id": 0}
    metadata = metadata.model_copy(update=updates)
    return stored_with_lineage(metadata) if change.lineage else metadata


# --- rows ------------------------------------------------------------------------------------------------------------


def _rows(change: Rewrite, group: Group) -> Iterator[pa.RecordBatch]:
    """Reads the live rows of a group, with their row lineage if the table has it."""
    relation = change.narrowed(group, "compacted") if change.lineage else _native(change, group)
    columns = ", ".join(quote(name) for name in (*change.columns, *change.lineage))
    plan = change.planner.plan_over(f"SELECT {columns} FROM {relation.sql}", relation)
    return gathered(change.execution.batches(plan))


def _check_whole(change: Rewrite, group: Group, rows: int) -> None:
    """Fails if rows are missing: the old files are about to be removed.

    The number of rows deleted by equality is not known, so fewer rows are accepted there.
    """
    by_value = any(change.files.deletes.get(number, NONE).equality for number in group)
    live = live_rows(change, group)
    if rows > live or (rows < live and not by_value):
        raise InternalError(f"{rows} rows were read of files of {change.found} that have {live}: nothing was changed")


def _native(change: Rewrite, group: Group) -> Relation:
    """Reads the group with DataFusion's Parquet scan as far as possible."""
    narrowed = change.scan.of(group)
    watched, is_plain = tuple(narrowed.watched), bool(narrowed.plain)
    key = ("$compact", "$compact", str(group[0]))
    columns = tuple(change.columns)
    return change.planner.add(
        Relation(key, narrowed.provider, columns, change.table, watched=watched, is_plain=is_plain)
    )


# --- commit ----------------------------------------------------------------------------------------------------------


def _dangling(change: Rewrite, removed: set[int]) -> list[DeleteFile]:
    """Returns the delete files that apply to no other file. Files that are added later are newer than these deletes."""
    deletes = change.files.deletes
    theirs = {_place(file): file for n in removed if n in deletes for file in deletes[n].files}
    still = {_place(file) for n, of in deletes.items() if n not in removed for file in of.files}
    return [file for place, file in theirs.items() if place not in still]


def _place(file: DeleteFile) -> tuple[str, int | None]:
    return file.path, file.offset


def _commit(change: Rewrite, removed: set[int], added: list[DataFile], deletes: list[DeleteFile]) -> None:
    change.execution.query.check()
    snapshot = change.table.handle.current_snapshot()
    assert snapshot is not None
    within = (snapshot.snapshot_id, change.files.manifests_of(removed))
    transaction = begin(change.table)
    hold_schema(transaction)
    paths = [change.files.paths[number] for number in removed]
    files = Files(paths, added, removed_deletes=deletes, within=within, moves=True)
    overwrite(transaction, files, Operation.REPLACE)
    commit(transaction, change.found.place, change.found.name)
