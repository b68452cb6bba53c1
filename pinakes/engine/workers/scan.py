"""The scan of a worker's rows in one statement: planned as a placeholder scan, then read with the plan's pushdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from datafusion import Expr

from pinakes.engine.datafusion.plan_proto import scans_of
from pinakes.engine.datafusion.unfiltered_dataset import exact
from pinakes.engine.pushdown.placeholder_scan import shadow_of
from pinakes.engine.pushdown.scan_pushdown import serialized
from pinakes.engine.system.pushdown import asked_of
from pinakes.engine.workers.conditions import filters_of
from pinakes.engine.workers.dataset import WorkerDataset
from pinakes.worker.wire.filters import Filter

if TYPE_CHECKING:
    from datafusion import SessionContext
    from datafusion import Table as Provider
    from datafusion.plan import LogicalPlan

    from pinakes.engine.statement_context import Execution
    from pinakes.providers.vgi.scans import RowCall


class WorkerScan:
    """The scan of the rows of `call`."""

    def __init__(self, call: RowCall, execution: Execution) -> None:
        self._call = call
        self._execution = execution
        self.schema = pa.schema([pa.field(f.name, f.type) for f in call.schema])
        self._shadow = shadow_of(self.schema, execution.session.context)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    @property
    def shadow(self) -> Provider:
        """The placeholder scan used while the query is planned. It can't be executed: it refers to a file that does not
        exist.
        """
        return self._shadow.provider

    def answered(self, optimized: LogicalPlan) -> Provider:
        """Returns the table as the plan reads it, with the plan's predicates pushed down to the worker."""
        session = self._execution.session
        asked = asked_of(optimized, self._shadow, {}, session.context)
        dataset = WorkerDataset(
            self._call,
            self.schema,
            filters=self._filters(optimized, session.context) if self._call.takes_filters else (),
            limit=asked.limit,
            partitions=session.settings.target_partitions,
            check=self._execution.query.check,
        )
        return exact(dataset)

    def _filters(self, optimized: LogicalPlan, context: SessionContext) -> tuple[Filter, ...]:
        plan = serialized(optimized, context)
        if plan is None:
            return ()
        scans = [[Expr.from_bytes(e, context) for e in found] for found in scans_of(plan, self._shadow.marker)]
        return filters_of(scans, self.schema)
