"""RETURNING: the rows of a change, collected while they are written and computed before the commit.

So the rows are those of the commit itself, and an error in an expression changes nothing. An attempt that loses a race
starts again without rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from pinakes.core.arrays.conform import conform
from pinakes.core.arrays.struct_fields import arrange_fields
from pinakes.core.errors import ColumnNotFound, NotSupportedError
from pinakes.core.names import quote
from pinakes.engine.binding.relation import Relation
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.scan.table import IcebergScan
from pinakes.engine.iceberg.write.rewrite import TARGET, at_hand
from pinakes.engine.planning.plan import Plan
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.splice import Edit
from pinakes.parser.statements import Delete, Insert, Merge, Returning, TableRef, Update

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable

Action = Literal["INSERT", "UPDATE", "DELETE"]
MOST_BYTES = 64 << 20
"""The largest size of the changed rows, and of what is returned of them: both are kept in memory until the commit."""
_NOT_PER_ROW = re.compile(r"^ *(Aggregate|WindowAggr|Unnest):", re.MULTILINE)


@dataclass(slots=True)
class Returned:
    """The rows that one statement returns."""

    execution: Execution
    items: Returning
    target: TableRef
    reads_others: bool
    """Whether the statement reads another table, whose columns can't be returned."""
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    _table: IcebergTable | None = None
    _name: tuple[str, ...] = ()
    _seen: pa.Schema = field(default_factory=lambda: pa.schema([]))
    _rows: dict[Action, list[pa.RecordBatch]] = field(default_factory=dict)
    _batches: list[pa.RecordBatch] = field(default_factory=list)
    _size: int = 0

    @classmethod
    def of(cls, statement: Insert | Update | Delete | Merge, execution: Execution) -> Returned | None:
        if statement.returned is None:
            return None
        reads_others = not isinstance(statement, Insert) and statement.source is not None
        return cls(execution, statement.returned, statement.target, reads_others)

    def start(self, found: ResolvedTable, table: IcebergTable) -> None:
        """Begins an attempt: forgets all rows, and plans the list, so that its errors are raised before the change."""
        self._rows, self._batches, self._size = {}, [], 0
        self._table, self._name = table, (found.place.mount.name, *found.place.namespace, found.name)
        self._seen = IcebergScan(table, self.execution.session).schema
        plan = self._plan(self._seen.empty_table(), "INSERT")
        _check_per_row(plan.frame.logical_plan())
        self.schema = schema_of(plan.frame)

    def add(self, batch: pa.RecordBatch, action: Action) -> None:
        """Adds rows of the target; columns after those of the table are left out."""
        if not batch.num_rows:
            return
        rows = batch.select(range(len(self._seen)))
        self._count(rows.nbytes)
        self._rows.setdefault(action, []).append(conform(arrange_fields(rows, self._seen), self._seen))

    def watch(self, batches: Iterable[pa.RecordBatch], action: Action) -> Iterator[pa.RecordBatch]:
        """Yields the batches on their way to the files, and adds them."""
        for batch in batches:
            self.add(batch, action)
            yield batch

    def compute(self) -> None:
        """Computes what is returned; called before the commit, when all rows were added."""
        self._size = 0
        for action, batches in self._rows.items():
            plan = self._plan(pa.Table.from_batches(batches, schema=self._seen), action)
            for batch in self.execution.batches(plan):
                self._count(batch.nbytes)
                self._batches.append(batch.cast(self.schema) if batch.schema != self.schema else batch)
        self._rows = {}

    def result(self, count: int) -> Result:
        result = Result(self.schema, self._batches)
        result.count = count
        return result

    def _plan(self, rows: pa.Table, action: Action) -> Plan:
        planner = self.execution.planner()
        key = at_hand(rows).key
        provider = Rows(rows).provider
        relation = planner.add(Relation(key, provider, tuple(self._seen.names), self._table, TARGET, self._name))
        edits = [Edit(span.start, span.end, f"'{action}'") for span in self.items.actions]
        text = planner.rewrite(self.items, self.items.span, target=(self.target, relation), also=edits)
        sql = f"SELECT\n{text.text}\nFROM {relation.sql} AS {quote(TARGET)}"
        try:
            return planner.plan(sql, self.items, lambda line, column: text.locate(line - 1, column))
        except ColumnNotFound as error:
            if not self.reads_others:
                raise
            raise ColumnNotFound(
                f"{error.message}. RETURNING has only the columns of the changed table", position=error.position
            ) from error

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MOST_BYTES:
            raise NotSupportedError(
                f"RETURNING would return more than {MOST_BYTES >> 20} MB, so nothing was changed: use RETURNING "
                f"count(*), and SELECT the rows"
            )


def _check_per_row(plan: LogicalPlan) -> None:
    found = _NOT_PER_ROW.search(plan.display_indent())
    if found:
        what = {"Aggregate": "aggregate functions", "WindowAggr": "window functions"}.get(found.group(1), "UNNEST")
        raise NotSupportedError(f"{what} can't stand in RETURNING, except for RETURNING count(*) alone")


def schema_returned(statement: Insert | Update | Delete | Merge, execution: Execution) -> pa.Schema:
    """Returns the schema of the rows, without running the statement."""
    returned = Returned.of(statement, execution)
    assert returned is not None
    returned.start(*execution.resolver.table(statement.target.name))
    return returned.schema
