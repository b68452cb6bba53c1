"""Functions that give rows, a batch at a time."""

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
    """What `process` gives its rows to."""

    def __init__(self, whole: pa.Schema, wanted: pa.Schema) -> None:
        self._whole, self._wanted = whole, wanted
        self.ready: deque[pa.RecordBatch] = deque()
        self.logs: list[Log] = []
        self.finished = False

    def emit(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Rows under the output schema: the whole one, or that of the columns that are wanted."""
        if self.finished:
            raise ValueError("nothing can be emitted after finish()")
        parts = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        self.ready.extend(self._fitted(part) for part in parts if part.num_rows)

    def finish(self) -> None:
        """There are no more rows."""
        self.finished = True

    def log(self, level: str, message: str) -> None:
        """Tell whoever asked; level is INFO, WARN, ERROR or DEBUG."""
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
        if not columns:  # only the number of rows is wanted
            return batch.select([])
        return pa.RecordBatch.from_arrays(columns, schema=self._wanted)


class TableFunctionGenerator(Function):
    """A function that gives rows.

    `process` is called until it says `out.finish()`: it emits some rows each time, and keeps in `state` how far it is.
    """

    TYPE: ClassVar[FunctionType] = FunctionType.TABLE
    FIXED_SCHEMA: ClassVar[pa.Schema]
    """What it gives. A function whose columns depend on its arguments has a classmethod `bind` instead."""
    PROJECTION_PUSHDOWN: ClassVar[bool] = False
    """True: `params.output_schema` has only the columns that are wanted. False: they are chosen afterwards."""
    FILTER_PUSHDOWN: ClassVar[bool] = False
    """True: `params.filters` has the conditions of the query."""
    MAX_WORKERS: ClassVar[int] = 1
    """How many workers may share the splits of a call, at most."""

    @classmethod
    def bind(cls, params: BindParams) -> pa.Schema:
        """The columns that a call gives."""
        return cls.FIXED_SCHEMA

    @classmethod
    def max_workers(cls, params: ProcessParams) -> int:
        """How many of them this call is worth."""
        return cls.MAX_WORKERS

    @classmethod
    def splits(cls, params: ProcessParams) -> Sequence[Any]:
        """The pieces of work of a call: each is done by exactly one worker, which finds it in `params.split`. The same
        arguments must give the same pieces in every process."""
        return (None,)

    @classmethod
    def cardinality(cls, params: BindParams) -> int | None:
        """About how many rows there will be, if that is known."""
        return None

    @classmethod
    def initial_state(cls, params: ProcessParams) -> Any:
        """What `process` gets as its state, made anew for each split."""
        return None

    @classmethod
    def process(cls, params: ProcessParams, state: Any, out: OutputCollector) -> None:
        """Emit some rows, or finish."""
        raise NotImplementedError(f"{cls.__name__} must have a classmethod process")

    @classmethod
    def on_cancel(cls, params: ProcessParams, state: Any) -> None:
        """Whoever asked wants no more rows: release what `state` holds."""

    @classmethod
    def output_of(cls, params: BindParams) -> pa.Schema:
        return cls.bind(params)

    @classmethod
    def declared_output(cls) -> pa.Schema:
        return getattr(cls, "FIXED_SCHEMA", None) or pa.schema([])
