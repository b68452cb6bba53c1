"""The scan of a system table in one statement: planned as a placeholder scan, then read once with the plan's
pushdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.pushdown.placeholder_scan import placeholder_scan
from pinakes.engine.system.conditions import converted
from pinakes.engine.system.reading import read
from pinakes.system_tables.base import SystemTable

if TYPE_CHECKING:
    from datafusion import Table as Provider

    from pinakes.core.catalog import VirtualTable
    from pinakes.engine.pushdown.scan_requests import ScanRequest
    from pinakes.engine.statement_context import Execution


class SystemScan:
    def __init__(self, table: VirtualTable, execution: Execution) -> None:
        assert isinstance(table.definition, SystemTable)
        self._table: SystemTable[Any] = table.definition
        self._of = table.of
        self._execution = execution
        self.placeholder = placeholder_scan(self._table.schema, execution.session.context)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._table.schema.names)

    def answered(self, request: ScanRequest) -> Provider:
        """Returns the table with the rows that are asked for."""
        levels = {c.name: c.level for c in self._table.columns if c.level is not None}
        wanted, complete = converted(request.predicate, levels)
        with self._execution.query.phase("execute"):
            rows = read(
                self._table,
                self._execution,
                self._of,
                columns=request.columns,
                wanted=wanted,
                limit=request.limit(is_exact=complete),
            )
        return Rows(rows).provider
