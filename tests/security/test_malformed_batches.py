"""Arrow data that leads out of its own memory is refused where it comes in: it would end the server.

Arrow takes the offsets of texts and lists, and the indices of dictionaries, as they are. A user who sent a batch with
the offsets 0, 5000, 3 ended the process by an ingestion of two rows.
"""

from __future__ import annotations

import struct
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pytest

from pinakes.worker.exceptions import Damaged, ProtocolError
from pinakes.worker.wire.messages import batches_of, opened
from pinakes.worker.wire.records import batch_of, stream_of
from tests.flight.identities import configured
from tests.security.recording import EVE, USERS


def made(type: pa.DataType, length: int, numbers: list[int], *others: bytes) -> pa.Array:
    buffers = [None, pa.py_buffer(struct.pack(f"<{len(numbers)}i", *numbers)), *map(pa.py_buffer, others)]
    return pa.Array.from_buffers(type, length, buffers)


MALFORMED = {
    "text": made(pa.string(), 2, [0, 5000, 3], b"abc"),
    "far text": made(pa.string(), 2, [0, 1 << 30, 3], b"abc"),
    "negative": made(pa.string(), 2, [0, -5, 3], b"abc"),
    "binary": made(pa.binary(), 2, [0, 5000, 3], b"abc"),
    "no UTF-8": made(pa.string(), 1, [0, 2], b"\xff\xfe"),
    "list": pa.Array.from_buffers(
        pa.list_(pa.int64()), 2, [None, pa.py_buffer(struct.pack("<3i", 0, 5000, 1))], children=[pa.array([1])]
    ),
    "dictionary": pa.DictionaryArray.from_buffers(
        pa.dictionary(pa.int32(), pa.string()), 2, [None, pa.py_buffer(struct.pack("<2i", 0, 1 << 28))], pa.array(["a"])
    ),
}


@pytest.mark.slow
def test_clients_send_no_malformed_batch(tmp_path: Path) -> None:
    with configured(tmp_path, USERS) as server:
        for name, array in MALFORMED.items():
            batch = pa.RecordBatch.from_arrays([array], names=["a"])
            with server.connect(**EVE) as connection, connection.cursor() as cursor:
                with pytest.raises(adbc.Error, match=r"INVALID_ARGUMENT: the rows are not valid Arrow data") as refused:
                    cursor.adbc_ingest("t", pa.Table.from_batches([batch]), mode="create")
                assert "INVALID_ARGUMENT" in str(refused.value), name
                with pytest.raises(adbc.Error, match=r"INVALID_ARGUMENT: the rows are not valid Arrow data"):
                    cursor.execute("SELECT ? AS a", batch)
        with server.connect(**EVE) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("t", pa.table({"a": ["x", None, "é"], "b": [[1], None, []]}), mode="create")
            cursor.execute("SELECT a, b FROM t WHERE a = ?", ["é"])
            assert cursor.fetchall() == [("é", [])]


@pytest.mark.parametrize("name", MALFORMED)
def test_workers_send_no_malformed_batch(name: str) -> None:
    data = stream_of(pa.RecordBatch.from_arrays([MALFORMED[name]], names=["a"]))
    with pytest.raises(Damaged, match="a message is damaged"):
        list(batches_of(opened(pa.py_buffer(data))))
    with pytest.raises(ProtocolError, match="not a valid Arrow stream"):
        batch_of(data, "an answer")
