"""Arrow batches that are small on the wire and large when decoded: a billion rows took 12 GB of the server."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pinakes.core.arrays.expanding import PIECE_BYTES, PIECE_ROWS, decoded_size, pieces, row_width
from pinakes.core.errors import InvalidArgument
from pinakes.flight import parameters
from tests.engine.support import an_engine

LONG = "x" * 1_000_000
MANY = 1_000_000_000


def views(text: str, times: int) -> pa.Array:
    """Many views of one text."""
    one = pa.array([text], pa.string_view())
    content = one.buffers()
    return pa.Array.from_buffers(
        pa.string_view(), times, [None, pa.py_buffer(content[1].to_pybytes()[:16] * times), *content[2:]]
    )


EXPANDING = {
    "nulls": pa.nulls(MANY),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([MANY], pa.int32()), pa.array([LONG])),
    "runs of numbers": pa.RunEndEncodedArray.from_arrays(pa.array([MANY], pa.int32()), pa.array([1])),
    "a dictionary": pa.DictionaryArray.from_arrays(pa.array([0] * 1_000, pa.int32()), pa.array([LONG])),
    "views": views(LONG, 1_000),
    "views of lists": pa.ListViewArray.from_arrays(
        pa.array([0] * 100_000, pa.int32()), pa.array([1_000] * 100_000, pa.int32()), pa.array(range(1_000))
    ),
    "lists of nothing": pa.Array.from_buffers(pa.list_(pa.int8(), 0), MANY, [None], children=[pa.array([], pa.int8())]),
    "structs of nothing": pa.StructArray.from_buffers(pa.struct([]), MANY, [None]),
    "a list of runs": pa.ListArray.from_arrays(
        pa.array([0, MANY], pa.int32()),
        pa.RunEndEncodedArray.from_arrays(pa.array([MANY], pa.int32()), pa.array([1])),
    ),
}
PLAIN = {
    "numbers": pa.array([1, None]),
    "texts": pa.array([LONG, None]),
    "lists": pa.array([[1], None, [[2]][0]]),
    "structs": pa.array([{"a": 1, "b": ["x"]}]),
    "maps": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
}


@pytest.mark.parametrize("what", EXPANDING)
def test_a_batch_that_expands_is_split(what: str) -> None:
    batch = pa.record_batch([EXPANDING[what]], names=["a"])
    first = next(pieces(batch))
    assert decoded_size(batch) > batch.nbytes
    assert decoded_size(batch) >= min(batch.num_rows, PIECE_BYTES)
    assert first.num_rows <= PIECE_ROWS
    assert first.num_rows == 1 or first.num_rows * row_width(batch) <= PIECE_BYTES


@pytest.mark.parametrize("what", PLAIN)
def test_other_batches_stay_whole(what: str) -> None:
    batch = pa.record_batch([PLAIN[what]], names=["a"])
    assert [piece is batch for piece in pieces(batch)] == [True]
    assert decoded_size(batch) == batch.nbytes


def test_small_encoded_batches_stay_whole_and_pieces_have_all_rows() -> None:
    small = pa.record_batch([pa.array(["a", "b", "a"]).dictionary_encode(), views("abc", 3)], names=["a", "b"])
    assert list(pieces(small)) == [small]
    large = pa.record_batch([pa.array(["a", LONG] * 500).dictionary_encode()], names=["a"])
    found = list(pieces(large))
    assert len(found) > 1
    assert pa.Table.from_batches(found).column(0).to_pylist() == ["a", LONG] * 500


def test_parameters_are_counted_as_they_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.record_batch([EXPANDING["runs of numbers"]], names=["a"])

    class Request:
        call = None

        class service:
            class statements:
                parameters_size = 256 << 20

        class memory:
            @staticmethod
            def grow(size: int) -> None:
                """Accepts any size: the limit of the parameters is tested here."""

    class Reader:
        schema = batch.schema

    monkeypatch.setattr(parameters, "received", lambda *_: pieces(batch))
    with pytest.raises(InvalidArgument, match="parameters are larger"):
        parameters.read_parameters(Reader(), Request())  # type: ignore[arg-type]


def test_rows_of_an_arrow_file_are_split(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("arrow") / "a.arrow"
    rows = pa.record_batch([pa.array(["a", LONG] * 100).dictionary_encode()], names=["a"])
    with pa.ipc.new_file(path, rows.schema) as writer:
        writer.write_batch(rows)
    with an_engine() as engine:
        found = pa.Table.from_batches(engine.session().run(f"SELECT count(*) AS n, max(length(a)) AS l FROM '{path}'"))
    assert found.to_pylist() == [{"n": 200, "l": 1_000_000}]
