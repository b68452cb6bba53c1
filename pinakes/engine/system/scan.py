"""The scan of a system table in one statement: planned as a placeholder scan, then read once with the plan's
pushdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.pushdown.placeholder_scan import shadow_of
from pinakes.engine.system.pushdown import asked_of
from pinakes.engine.system.reading import read
from pinakes.system_tables.base import SystemTable

if TYPE_CHECKING:
    from datafusion import Table as Provider
    from datafusion.plan import LogicalPlan

    from pinakes.core.catalog import VirtualTable
    from pinakes.engine.statement_context import Execution


class SystemScan:
    def __init__(self, table: VirtualTable, execution: Execution) -> None:
        assert isinstance(table.definition, SystemTable)
        self._table: SystemTable[Any] = table.definition
        self._of = table.of
        self._execution = execution
        self._shadow = shadow_of(self._table.schema, execution.session.context)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._table.schema.names)

    @property
    def shadow(self) -> Provider:
        """The placeholder scan used while the query is planned. It can't be executed: it refers to a file that does not
        exist.
        """
        return self._shadow.provider

    def answered(self, optimized: LogicalPlan) -> Provider:
        """Returns the table with the rows that the plan needs."""
        context = self._execution.session.context
        levels = {c.name: c.level for c in self._table.columns if c.level is not None}
        asked = asked_of(optimized, self._shadow, levels, context)
        with self._execution.query.phase("execute"):
            rows = read(
                self._table,
                self._execution,
                self._of,
                columns=asked.columns,
                wanted=asked.wanted,
                limit=asked.limit,
            )
        return Rows(rows).provider
