"""The scan of a worker's rows in one statement: planned as a placeholder scan, then read with the plan's pushdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.engine.datafusion.unfiltered_dataset import exact
from pinakes.engine.pushdown.placeholder_scan import placeholder_scan
from pinakes.engine.pushdown.predicate import TRUE
from pinakes.engine.workers.conditions import filters_of
from pinakes.engine.workers.dataset import WorkerDataset

if TYPE_CHECKING:
    from datafusion import Table as Provider

    from pinakes.engine.pushdown.scan_requests import ScanRequest
    from pinakes.engine.statement_context import Execution
    from pinakes.providers.vgi.scans import RowCall


class WorkerScan:
    """The scan of the rows of `call`."""

    def __init__(self, call: RowCall, execution: Execution) -> None:
        self._call = call
        self._execution = execution
        self.schema = pa.schema([pa.field(f.name, f.type) for f in call.schema])
        self.placeholder = placeholder_scan(self.schema, execution.session.context)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.schema.names)

    def answered(self, request: ScanRequest) -> Provider:
        """Returns the table with the predicate pushed down to the worker, which need not apply it."""
        dataset = WorkerDataset(
            self._call,
            self.schema,
            filters=filters_of(request.predicate, self.schema) if self._call.takes_filters else (),
            limit=request.limit(is_exact=request.predicate == TRUE),
            partitions=self._execution.session.settings.target_partitions,
            check=self._execution.query.check,
        )
        return exact(dataset)
