"""The relations that a statement reads: how Iceberg tables were pruned, and the files of a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.names import dotted
from pinakes.engine.binding.binder import FILES
from pinakes.engine.binding.session_relations import TEMPORARY
from pinakes.engine.explain.cache_use import cache_use
from pinakes.engine.explain.conditions import as_sql
from pinakes.engine.explain.facts import Files, RowGroups, Scan
from pinakes.engine.explain.operators import Read, file_key
from pinakes.engine.iceberg.scan.by_partition import ByPartition
from pinakes.engine.iceberg.scan.prune import Pruner
from pinakes.engine.iceberg.scan.table import FEW
from pinakes.engine.pushdown.scan_requests import ScanRequest, together

if TYPE_CHECKING:
    from pyiceberg.schema import Schema

    from pinakes.caches.lookups import Lookup
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.iceberg.scan.shapes import Shape
    from pinakes.engine.iceberg.scan.table import IcebergScan
    from pinakes.engine.pushdown.scan_pushdown import Pruned


@dataclass(frozen=True, slots=True)
class Evidence:
    """The records of planning and execution."""

    lookups: Sequence[Lookup]
    read: Sequence[Read] | None
    """None if the statement was not run."""

    def of_files(self, paths: Iterable[str]) -> tuple[RowGroups | None, int | None]:
        """Returns the row groups and bytes read of these files; None if DataFusion did not read them."""
        wanted = {file_key(path) for path in paths}
        found = [read for read in self.read or () if file_key(read.file) in wanted]
        if not found:
            return None, None
        groups = RowGroups(sum(r.row_groups for r in found), sum(r.matched for r in found))
        return groups, sum(r.bytes for r in found)


def scan_of(relation: Relation, pruned: Sequence[Pruned], evidence: Evidence) -> Scan:
    name = dotted(relation.path)
    if pruned and relation.table is not None:
        return _iceberg(relation, relation.table, _Chosen.of(pruned), evidence)
    if relation.view_plan is not None:
        return Scan(name, "view", caches=cache_use(a for a in evidence.lookups if a.about == relation.key))
    if relation.files:
        return _files(relation, evidence)
    return Scan(relation.key[2] if relation.key[0] == TEMPORARY else name, "memory")


def _files(relation: Relation, evidence: Evidence) -> Scan:
    """Describes files named by a path or by a `files` catalog: all of them are read."""
    count, size = len(relation.files), sum(file.stamp.size for file in relation.files)
    paths = tuple(str(f.local) if f.is_local else f.path for f in relation.files)
    groups, read = evidence.of_files(paths)
    more = f" and {count - 1} more" if count > 1 else ""
    return Scan(
        relation.files[0].path + more if relation.key[0] == FILES else dotted(relation.path),
        "files",
        files=Files(count, count, count),
        bytes_total=size,
        bytes_planned=size,
        bytes_read=read,
        row_groups=groups,
        paths=paths,
    )


# --- Iceberg tables ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The combined pruning of all scans of a table."""

    scan: IcebergScan
    request: ScanRequest
    native: dict[int, Shape]
    """The files that DataFusion reads, by number, with their column names."""
    plain: dict[int, str]
    """The numbers of the files that pyiceberg reads, with the reason."""

    @classmethod
    def of(cls, pruned: Sequence[Pruned]) -> _Chosen:
        reading = [t for t in pruned if t.request.scans != ()]  # not every plan of a statement reads every table
        native = {n: group.shape for t in reading for group, files in t.narrowed.native.items() for n, _ in files}
        plain = {n: why for t in reading for n, why in t.narrowed.plain.items()}
        return cls(pruned[0].scan, together(t.request for t in reading), native, plain)

    @property
    def numbers(self) -> list[int]:
        return sorted(self.native.keys() | self.plain.keys())

    @property
    def pruning(self) -> str:
        if self.request.scans is None:
            return "none: the conditions are not known, for the plan has rows in memory"
        if not self.scan.is_worth_narrowing:
            return f"none: of {FEW} files or fewer DataFusion itself leaves out what can't match"
        return "by partitions and bounds"

    def files(self, schema: Schema) -> Files:
        total, numbers = len(self.scan.files), self.numbers
        if self.request.scans is None or not self.scan.is_worth_narrowing:
            return Files(total, total if numbers else 0, len(numbers))
        kept = Pruner(ByPartition(self.scan.files), schema).files(self.request.predicate)
        return Files(total, len({*kept, *numbers}), len(numbers))


def _iceberg(relation: Relation, table: IcebergTable, chosen: _Chosen, evidence: Evidence) -> Scan:
    files, numbers, snapshot = chosen.scan.files, chosen.numbers, table.handle.current_snapshot()
    scans = chosen.request.scans
    paths = tuple(files.paths[n] for n in numbers)
    groups, read = evidence.of_files(paths)
    return Scan(
        dotted(relation.path),
        "iceberg",
        scans=None if scans is None else len(scans),
        snapshot_id=None if snapshot is None else snapshot.snapshot_id,
        files=chosen.files(table.handle.schema()),
        pruning=chosen.pruning,
        rows=pc.sum(files.table.column("record_count").take(pa.array(numbers, pa.int64()))).as_py() or 0,
        bytes_total=sum(files.sizes),
        bytes_planned=sum(files.sizes[n] for n in numbers),
        bytes_read=read,
        row_groups=groups,
        filters=None if scans is None else tuple(as_sql(scan.predicate) for scan in scans),
        delete_files=len({delete for n in numbers if n in files.deletes for delete in files.deletes[n].files}),
        native_files=len(chosen.native),
        schema_groups=len(set(chosen.native.values())),
        plain_files=dict(Counter(chosen.plain.values())),
        is_read=scans != (),
        caches=cache_use(a for a in evidence.lookups if a.about == relation.key),
        paths=paths,
    )
