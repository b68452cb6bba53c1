"""Batches of a worker that are large, or small and much larger when they are decoded: they are split before use."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest

from pinakes.core.arrays.expanding import BATCH_ROWS, PIECE_BYTES, small_pieces
from pinakes.engine.workers.dataset import _Fragment
from pinakes.worker.client import http
from pinakes.worker.client.http import HttpStream
from pinakes.worker.exceptions import ProtocolError


class Once:
    """A call of a worker with one batch."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def batches(self, columns: list[str]) -> list[pa.RecordBatch]:
        return [self._batch.select(columns)]


def test_rows_of_a_worker_are_read_in_small_batches() -> None:
    long = pa.array(["a" * (1 << 20)])
    batch = pa.record_batch(
        {"n": range(200), "s": pa.DictionaryArray.from_arrays(np.zeros(200, np.int32), long)}
    )  # 200 MB
    read = _Fragment(Once(batch), batch.schema).scanner().to_reader()  # type: ignore[arg-type]
    pieces = list(read)
    assert sum(piece.num_rows for piece in pieces) == 200
    assert max(piece.num_rows for piece in pieces) <= PIECE_BYTES >> 20


def test_many_rows_are_split() -> None:
    batch = pa.record_batch({"n": np.arange(1_000_000)})
    pieces = list(small_pieces(batch))
    assert pa.Table.from_batches(pieces).column("n").to_pylist()[::99_999] == list(range(0, 1_000_000, 99_999))
    assert max(piece.num_rows for piece in pieces) == BATCH_ROWS
    assert list(small_pieces(batch.slice(0, 0))) == []
    uneven = pa.record_batch({"s": ["a"] * 50_000 + ["b" * (8 << 20)] * 40})
    assert max(piece.nbytes for piece in small_pieces(uneven)) <= 2 * PIECE_BYTES


def test_compressed_rows_of_an_answer_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_ANSWER", 1 << 20)
    rows = pa.record_batch({"n": np.zeros(1 << 20, np.int64)})
    written = io.BytesIO()
    with pa.ipc.new_stream(written, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(rows)
    assert len(written.getvalue()) < 1 << 16
    with pytest.raises(ProtocolError, match="more than 1 MB"):
        HttpStream(None, {}, io.BytesIO(written.getvalue()), None, None)  # type: ignore[arg-type]
