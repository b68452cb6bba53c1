"""Copy-on-write: the files that a change touches are written anew, all others stay as they are.

A change runs in two steps over one snapshot. First the rows that it touches are found, with the file each is in
(`touched`); then those files alone are read again and written without, or with other values for, these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from datafusion import DataFrame

from pinakes.core.catalog import IcebergTable
from pinakes.core.names import quote
from pinakes.engine.execution import Execution
from pinakes.engine.planner import Planner, iceberg_relation
from pinakes.engine.relation import Relation
from pinakes.engine.resolver import Found
from pinakes.engine.scan.dataset import FILE, plan
from pinakes.engine.write.commit import commit
from pinakes.engine.write.files import FileWriter
from pinakes.parser.statements import Planned, Span, TableRef

CHANGED = "_changed"
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
    """The target with `_file` and `_row`, over all its files at first."""
    paths: list[str]

    @classmethod
    def of(cls, execution: Execution, statement: Planned, target: TableRef) -> Rewrite:
        found, table = execution.session.resolver.table(target.name)
        execution.query.touch(found.place.mount.name)
        planner = execution.planner()
        paths = [task.file.file_path for task in plan(table)]
        files = {p: i for i, p in enumerate(paths)}
        relation = planner.add(replace(iceberg_relation(_key(found, "target"), table, files), aliased=True))
        return cls(execution, statement, target, found, table, planner, relation, paths)

    @property
    def alias(self) -> str:
        """What the target goes by in the statement's expressions."""
        return (self.target.alias or self.target.name.last).exact

    @property
    def sql(self) -> str:
        """The target as it stands in a FROM clause."""
        return f"{self.relation.sql} AS {quote(self.alias)}"

    def text(self, span: Span) -> str:
        """A piece of the statement as DataFusion is to read it."""
        return self.planner.rewrite(self.statement, span, target=(self.target, self.relation)).text

    @property
    def columns(self) -> list[str]:
        return [f.name for f in self.table.handle.schema().fields]

    def narrowed(self, numbers: Iterable[int]) -> Relation:
        """The target with only these files."""
        files = {self.paths[n]: n for n in numbers}
        return self.planner.add(iceberg_relation(_key(self.found, "touched"), self.table, files))

    def touched(self, sql: str) -> list[int]:
        """The numbers of the files that a query over the target gives as `_file`."""
        rows = self.execution.collect(self.planner.plan(f"SELECT DISTINCT {FILE} FROM ({sql}\n) AS t", self.statement))
        return sorted(n for n in rows.column(0).to_pylist() if n is not None)

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
            with transaction.update_snapshot().overwrite() as overwrite:
                for file in old:
                    overwrite.delete_data_file(file)
                for file in writer.files:
                    overwrite.append_data_file(file)
            commit(transaction, self.found.place, self.found.name)
            writer.keep()
        return counter.changed


class _Counter:
    """Takes the `_changed` column, when there is one, off each batch and counts what it marks."""

    def __init__(self, width: int) -> None:
        self.changed = 0
        self._width = width

    def strip(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_columns > self._width:
                self.changed += pc.sum(batch.column(self._width)).as_py() or 0
                batch = batch.select(range(self._width))
            yield batch


def _key(found: Found, role: str) -> tuple[str, str, str]:
    """A name that no catalog can hold, so that the target beside a plain reading of the same table stays apart."""
    return ("$change", role, found.name)


def column_list(alias: str, columns: Iterable[str]) -> str:
    return ", ".join(f"{quote(alias)}.{quote(c)}" for c in columns)
