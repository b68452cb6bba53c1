"""Changes rows of a table: finds the rows, and rewrites or marks their files.

A change runs in steps over one snapshot. First, `narrow` prunes the files by metadata. Then `places` finds the
positions of the affected rows: the predicate is evaluated once. Then the files are rewritten without these rows, or
with new values (copy-on-write); or, if the table is configured so, the rows are marked as deleted and only their new
values are written (merge-on-read).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from datafusion import DataFrame
from pyiceberg.table.snapshots import Operation
from pyroaring import BitMap64

from pinakes.caches.files import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import InvalidArgument
from pinakes.core.names import quote
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.binding.relation import Relation
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.datafusion.unfiltered_dataset import exact
from pinakes.engine.iceberg.scan.dataset import FILE, ROW, IcebergDataset
from pinakes.engine.iceberg.scan.lineage import LINEAGE, has_lineage, stored_with_lineage
from pinakes.engine.iceberg.scan.prune import Pruner
from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles
from pinakes.engine.iceberg.scan.table import IcebergScan
from pinakes.engine.iceberg.scan.tasks import Task, plan
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.delete_files import DeleteWriter
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.overwrite import Files, overwrite
from pinakes.engine.planning.plan import Plan
from pinakes.engine.planning.planner import Planner
from pinakes.engine.pushdown.scan_requests import scan_requests
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Planned, Span, TableRef

if TYPE_CHECKING:
    from pinakes.engine.iceberg.write.returning import Returned

TARGET = "$target"
"""The alias of the target. Users cannot write this name, so it does not collide with other tables of the statement."""

_NUMBERS = itertools.count(1)
_MODES = ("copy-on-write", "merge-on-read")


@dataclass(slots=True)
class Rewrite:
    """A change of one table in progress."""

    execution: Execution
    statement: Planned
    target: TableRef
    found: ResolvedTable
    table: IcebergTable
    planner: Planner
    scan: IcebergScan
    relation: Relation
    """The target: first a placeholder scan for planning; after pruning, the remaining files with FILE and ROW."""
    _tasks: dict[int, Task] = field(default_factory=dict)
    returned: Returned | None = None
    """The rows of RETURNING: computed before the commit."""

    @classmethod
    def of(
        cls, execution: Execution, statement: Planned, target: TableRef, returned: Returned | None = None
    ) -> Rewrite:
        session = execution.session
        found, table = execution.resolver.table(target.name)
        execution.query.touch(found.place.mount.name)
        planner = execution.planner()
        scan = IcebergScan(table, session)
        full_name = (found.place.mount.name, *found.place.namespace, found.name)
        names = tuple(scan.schema.names)
        relation = Relation(_key("target"), scan.shadow(), names, table, TARGET, full_name, scan)
        if returned is not None:
            returned.start(found, table)
        return cls(execution, statement, target, found, table, planner, scan, planner.add(relation), returned=returned)

    # --- as text --------------------------------------------------------------------------------------------------

    @property
    def sql(self) -> str:
        """The target in a FROM clause."""
        return f"{self.relation.sql} AS {quote(TARGET)}"

    def text(self, span: Span) -> str:
        """Returns a part of the statement as SQL for DataFusion."""
        return self.planner.rewrite(self.statement, span, target=(self.target, self.relation)).text

    @property
    def columns(self) -> list[str]:
        return [f.name for f in self.table.handle.schema().fields]

    @property
    def lineage(self) -> tuple[str, ...]:
        """The lineage columns of the pruned target, which are stored with rewritten rows."""
        return LINEAGE if has_lineage(self.table.handle.metadata) else ()

    def changed_lineage(self, alias: str, condition: str = "TRUE") -> str:
        """Returns the end of a SELECT list: rows keep their id, and rows that satisfy the condition get a new sequence
        number.
        """
        if not self.lineage:
            return ""
        row_id, sequence = (f"{quote(alias)}.{quote(c)}" for c in self.lineage)
        return f", {row_id}, CASE WHEN NOT ({condition}) THEN {sequence} END AS {quote(self.lineage[1])}"

    def new_lineage(self) -> str:
        """Returns the same as `changed_lineage`, for new rows."""
        return "".join(f", CAST(NULL AS BIGINT) AS {quote(c)}" for c in self.lineage)

    def type_of(self, column: str) -> pa.DataType:
        """Returns the type in which queries see a column of the target."""
        field = self.table.handle.schema().find_field(column)
        return arrow_type_of(field.field_type, self.execution.session.settings.time_zone)

    # --- plans ----------------------------------------------------------------------------------------------------

    @property
    def leading(self) -> str:
        """The WITH before the statement: every query of the change begins with it."""
        span = getattr(self.statement, "leading", None)
        return "" if span is None else f"{self.text(span)}\n"

    def plan(self, sql: str) -> Plan:
        """Plans a query that is made of parts of the statement."""
        return self.planner.plan(f"{self.leading}{sql}", self.statement)

    def types(self, sql: str) -> list[pa.DataType]:
        return self.planner.types(f"{self.leading}{sql}", self.statement)

    # --- files ----------------------------------------------------------------------------------------------------

    @property
    def files(self) -> SnapshotFiles:
        return self.scan.files

    @property
    def cache(self) -> ManifestCache:
        return self.execution.session.manifests

    def wanted(self, source: str) -> list[int]:
        """Returns the files that may have a row of the target that satisfies a FROM clause with WHERE. Call before
        `narrow`.
        """
        return self.wanted_by(self.plan(f"SELECT 1 FROM {source}").frame)

    def wanted_by(self, frame: DataFrame) -> list[int]:
        """Returns the files that may have a row that a plan over the target reads."""
        with translated():
            optimized = frame.optimized_logical_plan()
        placeholder = self.scan.placeholder
        request = scan_requests(optimized, [placeholder], self.execution.session.context)[placeholder]
        return Pruner(self.files, self.table.handle.schema()).files(request.predicate)

    def narrow(self, numbers: Iterable[int]) -> None:
        """Restricts the target to these files, with the position of each row."""
        relation = self.narrowed(numbers, "target")
        self.relation = self.planner.add(replace(relation, alias=TARGET, full_name=self.relation.full_name))

    def narrowed(self, numbers: Iterable[int], role: str = "touched") -> Relation:
        """Returns the target restricted to these files, with the position of each row."""
        tasks = self.tasks(numbers)
        files = {task.file.file_path: number for number, task in tasks.items()}
        zone = self.execution.session.settings.time_zone
        dataset = IcebergDataset(self.table, zone, files, tasks=list(tasks.values()), cache=self.cache)
        key = _key(role) if role == "target" else _new_key(role)
        return self.planner.add(Relation(key, exact(dataset), tuple(dataset.schema.names), self.table))

    def tasks(self, numbers: Iterable[int]) -> dict[int, Task]:
        """Returns the read tasks of these files; only the manifests that list them are read."""
        numbers = set(numbers)
        missing = numbers - self._tasks.keys()
        if missing:
            found = plan(self.table, self.files, missing)
            self._tasks.update({self.files.numbers[task.file.file_path]: task for task in found})
        return {n: self._tasks[n] for n in sorted(numbers)}

    # --- rows -----------------------------------------------------------------------------------------------------

    def places(self, source: str) -> pa.Table:
        """Returns the distinct positions of the target's rows that satisfy a FROM clause with WHERE."""
        place = ", ".join(f"{quote(TARGET)}.{quote(c)}" for c in (FILE, ROW))
        return self.execution.collect(self.plan(f"SELECT DISTINCT {place} FROM {source}"))

    def touched(self, places: pa.Table) -> str:
        """Returns a FROM clause for the rows at these positions, under the target's alias."""
        return self._joined(places, "SEMI")

    def untouched(self, places: pa.Table) -> str:
        """Returns a query for the other rows of the same files."""
        columns = column_list(TARGET, [*self.columns, *self.lineage])
        return f"SELECT {columns} FROM {self._joined(places, 'ANTI')}"

    def return_old(self, places: pa.Table) -> None:
        """Adds the rows at these positions to those that the statement returns, as deleted ones."""
        assert self.returned is not None
        sql = f"SELECT {column_list(TARGET, self.columns)} FROM {self.touched(places)}"
        for batch in self.execution.batches(self.planner.plan(sql, self.statement)):
            self.returned.add(batch, "DELETE")

    def _joined(self, places: pa.Table, kind: str) -> str:
        narrowed = self.narrowed(files_of(places))
        known = self.planner.add(at_hand(places))
        on = " AND ".join(f"{quote(TARGET)}.{quote(c)} = {known.sql}.{quote(c)}" for c in (FILE, ROW))
        return f"{narrowed.sql} AS {quote(TARGET)} LEFT {kind} JOIN {known.sql} ON {on}"

    # --- commit ---------------------------------------------------------------------------------------------------

    def is_merge_on_read(self, statement: str) -> bool:
        """Returns whether the table is configured for merge-on-read in delete, update or merge statements."""
        handle = self.table.handle
        mode = handle.properties.get(f"write.{statement}.mode", _MODES[0]).strip().lower()
        if mode not in _MODES:
            raise InvalidArgument(
                f"the property write.{statement}.mode of {self.found} is {mode!r}; it must be {' or '.join(_MODES)}: "
                f"ALTER TABLE … SET PROPERTIES"
            )
        return mode == _MODES[1] and handle.format_version > 1  # version 1 has no row-level deletes

    def apply(
        self,
        places: pa.Table,
        rows: Iterable[pa.RecordBatch] = (),
        *,
        whole: Iterable[int] = (),
        on_read: bool = False,
        complete: bool = False,
        operation: Operation | None = None,
    ) -> None:
        """Removes the rows at these positions and all `whole` files, and adds `rows`, in one commit.

        `rows` may have lineage columns. They are `complete` if they include the unchanged rows of the files, which are
        then not added again.
        """
        emptied, left = self.divided(places)
        handle = self.table.handle
        metadata = stored_with_lineage(handle.metadata) if self.lineage else handle.metadata
        with FileWriter(metadata, handle.io) as writer, DeleteWriter(self.table, self.cache) as deletes:
            kept: Iterable[pa.RecordBatch] = ()
            if left.num_rows and not complete and not on_read:
                kept = self.execution.batches(self.planner.plan(self.untouched(left), self.statement))
            width = len(metadata.schema().fields)
            writer.write_all((_padded(batch, width) for batch in rows), (_padded(batch, width) for batch in kept))
            if on_read and left.num_rows:
                deletes.write(*self._marked(left))
            removed = {*whole, *emptied, *([] if on_read else files_of(places))}
            self._commit(removed, writer, deletes, operation)
            writer.keep()
            deletes.keep()

    def _commit(
        self, removed: set[int], writer: FileWriter, deletes: DeleteWriter, operation: Operation | None
    ) -> None:
        if self.returned is not None:
            self.returned.compute()
        self.execution.query.check()
        if not (removed or writer.files or deletes.files):
            return
        snapshot = self.table.handle.current_snapshot()
        within = (snapshot.snapshot_id, self.files.manifests_of(removed)) if snapshot is not None else None
        paths = [self.files.paths[n] for n in removed]
        transaction = begin(self.table)
        hold_schema(transaction)
        files = Files(paths, writer.files, deletes.files, deletes.replaced, within=within)
        overwrite(transaction, files, operation)
        commit(transaction, self.found.place, self.found.name)

    def divided(self, places: pa.Table) -> tuple[set[int], pa.Table]:
        """Returns the files whose rows are all at these positions, and the positions in other files."""
        counted = places.group_by(FILE).aggregate([([], "count_all")])
        counts = zip(counted.column(FILE).to_pylist(), counted.column("count_all").to_pylist(), strict=True)
        full = [number for number, count in counts if count == self.files.row_counts[number]]
        emptied = {number for number in full if number not in self.files.deletes}
        gone = pc.is_in(places.column(FILE), pa.array(sorted(emptied), pa.int32()))
        return emptied, places.filter(pc.invert(gone))

    def _marked(self, places: pa.Table) -> tuple[dict[str, BitMap64], dict[str, Task]]:
        """Returns the positions of the rows by data file, and the read tasks of these files."""
        tasks = self.tasks(files_of(places))
        lists = places.group_by(FILE).aggregate([(ROW, "list")])
        found = zip(lists.column(FILE).to_pylist(), lists.column(f"{ROW}_list").to_pylist(), strict=True)
        paths = self.files.paths
        return {paths[n]: BitMap64(rows) for n, rows in found}, {t.file.file_path: t for t in tasks.values()}


def _padded(batch: pa.RecordBatch, width: int) -> pa.RecordBatch:
    """Adds empty lineage columns to new rows."""
    missing = (pa.nulls(batch.num_rows, pa.int64()) for _ in range(width - batch.num_columns))
    for name, nulls in zip(LINEAGE, missing, strict=False):
        batch = batch.append_column(name, nulls)
    return batch


def files_of(places: pa.Table) -> list[int]:
    """Returns the numbers of the files of these positions."""
    return sorted(pc.unique(places.column(FILE)).to_pylist())


def at_hand(rows: pa.Table, role: str = "changes") -> Relation:
    """Returns rows in memory as a relation."""
    return Relation(_new_key(role), Rows(rows).provider, tuple(rows.column_names))


def nowhere() -> pa.Table:
    """Returns an empty table of positions."""
    return pa.schema([(FILE, pa.int32()), (ROW, pa.int64())]).empty_table()


def _key(role: str) -> tuple[str, str, str]:
    """Returns a key that no catalog can have, so that the target stays separate from plain reads of the same table."""
    return ("$change", "$change", role)


def _new_key(role: str) -> tuple[str, str, str]:
    """Returns a unique key.

    A plan may be re-planned before it runs, and must find its relations even if another part of the change is planned
    in between.
    """
    return _key(f"{role}_{next(_NUMBERS)}")


def column_list(alias: str, columns: Iterable[str]) -> str:
    return ", ".join(f"{quote(alias)}.{quote(c)}" for c in columns)


def batches_of(execution: Execution, plans: Iterable[Plan]) -> Iterator[pa.RecordBatch]:
    """Yields the rows of several plans in sequence."""
    for each in plans:
        yield from execution.batches(each)
