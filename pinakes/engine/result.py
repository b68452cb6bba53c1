"""What a statement gives back: an Arrow schema and a stream of record batches, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import pyarrow as pa


class Result:
    """A stream of batches. Reading it to the end, closing it or an error while reading ends its query.

    `kind` is "rows" for what has rows to show, else the statement's tag; `count` is the number of rows changed.
    """

    def __init__(
        self,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        *,
        kind: str = "rows",
        count: int | None = None,
    ) -> None:
        self.schema = schema
        self.kind = kind
        self.count = count
        self._batches = iter(batches)
        self._on_batch: Callable[[pa.RecordBatch], None] | None = None
        self._on_end: Callable[[BaseException | None], None] | None = None

    @classmethod
    def done(cls, tag: str, count: int | None = None) -> Result:
        """A statement that was carried out and has no rows."""
        return cls(pa.schema([]), (), kind=tag, count=count)

    @classmethod
    def rows(cls, schema: pa.Schema, rows: Iterable[Sequence[object]]) -> Result:
        """Rows at hand, as SHOW and DESCRIBE have them."""
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
        return cls(schema, [pa.record_batch(arrays, schema=schema)])

    def watch(
        self, on_batch: Callable[[pa.RecordBatch], None], on_end: Callable[[BaseException | None], None]
    ) -> Result:
        """Tell the tracker of each batch and of the end, be it an error."""
        self._on_batch, self._on_end = on_batch, on_end
        return self

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._batches:
                if self._on_batch is not None:
                    self._on_batch(batch)
                yield batch
        except GeneratorExit:
            self.close()
            raise
        except BaseException as error:
            self._end(error)
            raise
        self._end(None)

    def read_all(self) -> pa.Table:
        """Everything, in memory."""
        return pa.Table.from_batches(list(self), schema=self.schema)

    def reader(self) -> pa.RecordBatchReader:
        """The stream as Arrow's own reader, for whoever takes one."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def close(self) -> None:
        """Stop reading: what still runs is dropped."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()
        self._end(None)

    def _end(self, error: BaseException | None) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end(error)
