"""Row streams to and from clients."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pinakes.core.arrays.expanding import pieces
from pinakes.core.errors import InvalidArgument, QueryCanceled
from pinakes.flight.wire_types import conformed
from pinakes.server.calls import Call

MOST_BYTES = 4 << 20
"""Maximum size of a message: gRPC clients reject more than 16 MB, some more than 4 MB."""


def received(reader: Any, call: Call, seconds: float) -> Iterator[pa.RecordBatch]:
    """Yields all batches that a client sends, or raises. Each batch is validated: Arrow does not check offsets and
    indices, which could point outside of the batch's memory. A batch that is much larger when decoded is split."""
    for chunk in reader:
        if chunk.data is not None:
            try:
                chunk.data.validate(full=True)
            except pa.ArrowException as error:
                raise InvalidArgument(f"the rows are not valid Arrow data: {str(error)[:200]}") from error
            call.note_message(chunk.data.nbytes)
            yield from pieces(chunk.data)
    call.check_there(seconds)


class ClientRows:
    """The batches that a client sends, for a reader in another thread. DataFusion can go on reading after a statement
    has failed, and the stream of a call that has ended is freed memory. So `close`, at the end of the call, waits for a
    read under way, and later ones fail."""

    def __init__(self, reader: Any, call: Call, seconds: float) -> None:
        self._batches = received(reader, call, seconds)
        self._lock = threading.Lock()
        self._is_closed = False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        with self._lock:
            if self._is_closed:
                raise QueryCanceled("the call that sends the rows has ended")
            return next(self._batches)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True


def sliced(batch: pa.RecordBatch, most: int = MOST_BYTES) -> Iterator[pa.RecordBatch]:
    """Splits a batch into pieces of about `most` bytes. A single row is never split."""
    parts = -(-batch.nbytes // most)
    if parts <= 1 or batch.num_rows <= 1:
        yield batch
        return
    rows = -(-batch.num_rows // parts)
    for start in range(0, batch.num_rows, rows):
        piece = batch.slice(start, rows)
        # Rows differ in size; a piece that is still much too large is split again.
        yield from sliced(piece, most) if piece.nbytes > 2 * most and rows < batch.num_rows else (piece,)


def as_sent(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yields the batches in wire types and sizes."""
    for batch in batches:
        yield from sliced(conformed(batch, schema))
