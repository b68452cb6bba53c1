"""What a statement gives back: an Arrow schema and a stream of record batches, read once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, QueryCanceled
from pinakes.engine.datafusion.error_translation import let_go

if TYPE_CHECKING:
    from pinakes.parser.statements import Like


class Result:
    """A stream of batches, for one reader. Reading it to the end, closing it, forgetting it or an error while reading
    ends its query.

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
        self._taken = False
        self._closing = False
        self._on_batch: Callable[[pa.RecordBatch], None] = _nothing
        self._stop: Callable[[str], object] = _nothing
        self._ending: weakref.finalize[..., Result] | None = None

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

    @classmethod
    def names(cls, title: str, names: Iterable[str], like: Like | None) -> Result:
        """One column of sorted names, those that match the pattern of a SHOW."""
        kept = sorted(name for name in names if like is None or like.matches(name))
        return cls.rows(pa.schema([(title, pa.string())]), [(name,) for name in kept])

    def watch(
        self,
        on_batch: Callable[[pa.RecordBatch], None],
        on_end: Callable[[BaseException | None], None],
        stop: Callable[[str], object],
    ) -> Result:
        """Reports each batch and the end to the tracker: an error, or that the result was abandoned.
        `stop` interrupts the thread that reads it."""
        self._on_batch, self._stop = on_batch, stop
        self._ending = weakref.finalize(self, on_end, None)
        self._ending.atexit = False
        return self

    def through(self, wrap: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]) -> Result:
        """Let somebody see each batch, and the end, before the reader does."""
        self._batches = wrap(self._batches)
        return self

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._taken:
            raise InvalidArgument("this result was read or closed already: run the statement again to read it again")
        self._taken = True
        return self._stream()

    def _stream(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._batches:
                self._on_batch(batch)
                yield batch
        except GeneratorExit:
            self.close()
            raise
        except BaseException as error:
            reported = QueryCanceled("its result was closed") if self._is_being_closed(error) else error
            self._end(reported)
            let_go(error)
            if reported is error:
                raise
            raise reported from None
        self._end(None)

    def _is_being_closed(self, error: BaseException) -> bool:
        """Whether it failed because another thread is about to close what is read."""
        return self._closing and isinstance(error, ValueError) and str(error) == "generator already executing"

    def read_all(self) -> pa.Table:
        """Everything, in memory."""
        return pa.Table.from_batches(list(self), schema=self.schema)

    def reader(self) -> pa.RecordBatchReader:
        """The stream as Arrow's own reader, for callers that take one."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def stop(self, reason: str) -> None:
        """Makes the current or next read raise QueryCanceled; from any thread. Rows at hand are read as before."""
        self._stop(reason)

    def close(self) -> None:
        """Stop reading: what still runs is dropped. Another thread that reads it meanwhile gets QueryCanceled."""
        self._taken = self._closing = True
        try:
            getattr(self._batches, "close", _nothing)()
        except ValueError:  # the generator runs: only its own thread can end it
            self._stop("its result was closed")
            return
        self._end(None)

    def _end(self, error: BaseException | None) -> None:
        ending = self._ending.detach() if self._ending is not None else None
        if ending is not None:
            ending[1](error)


def _nothing(*_: object) -> None:
    """Used where no listener is set."""
