"""Copy-on-write: the files that a change touches are written anew, all others stay as they are.

A change runs in two steps over one snapshot. First the places of the rows that it touches are found (`places`): its
condition is asked once, and only as a condition. Then the files they are in are read again (`narrowed`) and written
without, or with other values for, these rows (`touched`, `untouched`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from datafusion import DataFrame

from pinakes.core.catalog import IcebergTable
from pinakes.core.iceberg_arrow import arrow_type_of
from pinakes.core.names import quote
from pinakes.engine.execution import Execution
from pinakes.engine.places import Found
from pinakes.engine.planner import Planner
from pinakes.engine.relation import Relation
from pinakes.engine.scan.dataset import FILE, ROW
from pinakes.engine.scan.tasks import plan
from pinakes.engine.sources import Rows
from pinakes.engine.write.commit import commit, hold_schema
from pinakes.engine.write.files import FileWriter
from pinakes.engine.write.overwrite import overwrite
from pinakes.parser.statements import Planned, Span, TableRef

TARGET = "$target"
"""The alias of the target: no name that a user writes, so that no other table of the statement is taken for it."""

CHANGED = "$pinakes_changed"
"""A column of the second step that is true for each row that the change touches."""


@dataclass(slots=True)
class Rewrite:
    """A change of one table that is under way."""

    execution: Execution
    statement: Planned
    target: TableRef
    found: Found
    table: IcebergTable
    planner: Planner
    relation: Relation
    """The target with FILE and ROW, over all its files."""
    paths: list[str]

    @classmethod
    def of(cls, execution: Execution, statement: Planned, target: TableRef) -> Rewrite:
        found, table = execution.session.resolver.table(target.name)
        execution.query.touch(found.place.mount.name)
        planner = execution.planner()
        paths = [task.file.file_path for task in plan(table)]
        files = {p: i for i, p in enumerate(paths)}
        full_name = (found.place.mount.name, *found.place.namespace, found.name)
        relation = replace(planner.iceberg(_key("target"), table, files), alias=TARGET, full_name=full_name)
        return cls(execution, statement, target, found, table, planner, planner.add(relation), paths)

    @property
    def sql(self) -> str:
        """The target as it stands in a FROM clause."""
        return f"{self.relation.sql} AS {quote(TARGET)}"

    def text(self, span: Span) -> str:
        """A piece of the statement as DataFusion is to read it."""
        return self.planner.rewrite(self.statement, span, target=(self.target, self.relation)).text

    @property
    def columns(self) -> list[str]:
        return [f.name for f in self.table.handle.schema().fields]

    def type_of(self, column: str) -> pa.DataType:
        """The type under which queries see a column of the target."""
        field = self.table.handle.schema().find_field(column)
        return arrow_type_of(field.field_type, self.execution.session.settings.time_zone)

    def narrowed(self, numbers: Iterable[int]) -> Relation:
        """The target with only these files."""
        files = {self.paths[n]: n for n in numbers}
        return self.planner.add(self.planner.iceberg(_key("touched"), self.table, files))

    def places(self, source: str) -> pa.Table:
        """Where each row stands that a FROM clause with its WHERE leaves of the target, once."""
        place = ", ".join(f"{quote(TARGET)}.{quote(c)}" for c in (FILE, ROW))
        return self.execution.collect(self.planner.plan(f"SELECT DISTINCT {place} FROM {source}", self.statement))

    def touched(self, places: pa.Table) -> str:
        """The rows at these places, as a FROM clause under the target's alias."""
        return self._joined(places, "SEMI")

    def untouched(self, places: pa.Table) -> DataFrame:
        """The other rows of the same files."""
        columns = column_list(TARGET, self.columns)
        return self.planner.plan(f"SELECT {columns} FROM {self._joined(places, 'ANTI')}", self.statement)

    def _joined(self, places: pa.Table, kind: str) -> str:
        narrowed = self.narrowed(files_of(places))
        known = self.planner.add(at_hand(places))
        on = " AND ".join(f"{quote(TARGET)}.{quote(c)} = {known.sql}.{quote(c)}" for c in (FILE, ROW))
        return f"{narrowed.sql} AS {quote(TARGET)} LEFT {kind} JOIN {known.sql} ON {on}"

    def replace(self, numbers: Iterable[int], *frames: DataFrame) -> int:
        """Put the rows of the frames in place of these files. Gives the number of rows marked as changed."""
        doomed = {self.paths[n] for n in numbers}
        old = [task.file for task in plan(self.table) if task.file.file_path in doomed]
        counter = _Counter(len(self.columns))
        with FileWriter(self.table.handle.metadata, self.table.handle.io) as writer:
            for frame in frames:
                writer.write_all(counter.strip(self.execution.batches(frame)))
            self.execution.query.check()
            transaction = self.table.handle.transaction()
            hold_schema(transaction)
            overwrite(transaction, old, writer.files)
            commit(transaction, self.found.place, self.found.name)
            writer.keep()
        return counter.changed


def files_of(places: pa.Table) -> list[int]:
    """The numbers of the files that hold these places."""
    return sorted(pc.unique(places.column(FILE)).to_pylist())


def at_hand(rows: pa.Table, role: str = "changes") -> Relation:
    """Rows in memory, as a plan refers to them."""
    return Relation(_key(role), Rows(rows).provider, tuple(rows.column_names))


class _Counter:
    """Takes the CHANGED column, when there is one, off each batch and counts what it marks."""

    def __init__(self, width: int) -> None:
        self.changed = 0
        self._width = width

    def strip(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_columns > self._width:
                self.changed += pc.sum(batch.column(self._width)).as_py() or 0
                batch = batch.select(range(self._width))
            yield batch


def _key(role: str) -> tuple[str, str, str]:
    """A name that no catalog can hold, so that the target beside a plain reading of the same table stays apart."""
    return ("$change", "$change", role)


def column_list(alias: str, columns: Iterable[str]) -> str:
    return ", ".join(f"{quote(alias)}.{quote(c)}" for c in columns)
