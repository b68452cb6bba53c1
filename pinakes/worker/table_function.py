"""Functions that return rows, one batch at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa

from pinakes.worker.catalog.names import FunctionType
from pinakes.worker.function import BindParams, Function, ProcessParams
from pinakes.worker.wire.messages import Log

__all__ = ["BindParams", "OutputCollector", "ProcessParams", "TableFunctionGenerator"]


class OutputCollector:
    """Collects the rows that `process` emits."""

    def __init__(self, whole: pa.Schema, wanted: pa.Schema) -> None:
        self._whole, self._wanted = whole, wanted
        self.ready: deque[pa.RecordBatch] = deque()
        self.logs: list[Log] = []
        self.finished = False

    def emit(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Emits rows with the output schema: the complete one, or that of the projected columns."""
        if self.finished:
            raise ValueError("nothing can be emitted after finish()")
        parts = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        self.ready.extend(self._fitted(part) for part in parts if part.num_rows)

    def finish(self) -> None:
        """Ends the rows of this split."""
        self.finished = True

    def log(self, level: str, message: str) -> None:
        """Sends a log message to the caller; level is INFO, WARN, ERROR or DEBUG."""
        self.logs.append(Log(level, message))

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.schema.equals(self._wanted):
            return batch
        missing = [n for n in self._wanted.names if n not in batch.schema.names]
        if missing:
            raise ValueError(
                f"a batch lacks the column '{missing[0]}': it has {', '.join(batch.schema.names) or 'none'}, and "
                f"{', '.join(self._wanted.names)} are wanted"
            )
        columns = []
        for field in self._wanted:
            column = batch.column(field.name)
            if column.type != field.type:
                raise ValueError(f"column '{field.name}' must be {field.type}, and {column.type} was emitted")
            columns.append(column)
        if not columns:  # only the number of rows is needed
            return batch.select([])
        return pa.RecordBatch.from_arrays(columns, schema=self._wanted)


class TableFunctionGenerator(Function):
    """A function that returns rows.

    `process` is called until it calls `out.finish()`: each call emits some rows, and keeps its position in `state`.
    """

    TYPE: ClassVar[FunctionType] = FunctionType.TABLE
    FIXED_SCHEMA: ClassVar[pa.Schema]
    """The result's schema. A function whose columns depend on its arguments implements the classmethod `bind`
    instead.
    """
    PROJECTION_PUSHDOWN: ClassVar[bool] = False
    """True: `params.output_schema` has only the projected columns. False: columns are projected after `process`."""
    FILTER_PUSHDOWN: ClassVar[bool] = False
    """True: `params.filters` has the predicates of the query."""
    MAX_WORKERS: ClassVar[int] = 1
    """The maximum number of workers that may share the splits of a call."""

    @classmethod
    def bind(cls, params: BindParams) -> pa.Schema:
        """Returns the columns of a call's result."""
        return cls.FIXED_SCHEMA

    @classmethod
    def max_workers(cls, params: ProcessParams) -> int:
        """Returns the number of workers that this call can use."""
        return cls.MAX_WORKERS

    @classmethod
    def splits(cls, params: ProcessParams) -> Sequence[Any]:
        """Returns the splits of a call: each is processed by exactly one worker, which finds it in `params.split`. The
        same arguments must return the same splits in every process.
        """
        return (None,)

    @classmethod
    def cardinality(cls, params: BindParams) -> int | None:
        """Returns the approximate number of rows, if known."""
        return None

    @classmethod
    def initial_state(cls, params: ProcessParams) -> Any:
        """Returns the initial state of `process`, called for each split."""
        return None

    @classmethod
    def process(cls, params: ProcessParams, state: Any, out: OutputCollector) -> None:
        """Emits some rows, or finishes."""
        raise NotImplementedError(f"{cls.__name__} must have a classmethod process")

    @classmethod
    def on_cancel(cls, params: ProcessParams, state: Any) -> None:
        """Releases resources in `state` when the caller needs no more rows."""

    @classmethod
    def output_of(cls, params: BindParams) -> pa.Schema:
        return cls.bind(params)

    @classmethod
    def declared_output(cls) -> pa.Schema:
        return getattr(cls, "FIXED_SCHEMA", None) or pa.schema([])
