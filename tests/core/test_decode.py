"""Arrays in any encoding, decoded: the same values, in slices and with NULLs, at any depth."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pinakes.core.arrays.decode import decode, decode_type, plain_parameter

VIEWS = pa.DictionaryArray.from_arrays(
    pa.array([0, 1, None, 1, 0, 2], pa.int8()), pa.array(["a", "b", None]).cast(pa.string_view())
)
RUNS = pc.run_end_encode(pa.array(["a", "a", None, "b", "b", "b"]))
RUNS_OF_DICTIONARY = pa.RunEndEncodedArray.from_arrays([2, 5, 6], pa.array(["p", None, "q"]).dictionary_encode())
RUNS_OF_LISTS = pa.RunEndEncodedArray.from_arrays(pa.array([4, 6], pa.int16()), pa.array([[1, 2], [3]]))
OFFSETS = pa.array([0, 2, 2, 6], pa.int32())
NONE = pa.array([False, True, False])


def nested(values: pa.Array) -> dict[str, pa.Array]:
    views = pa.ListViewArray.from_arrays(pa.array([4, 0, 1], pa.int32()), pa.array([2, 2, 3], pa.int32()), values)
    return {
        "plain": values,
        "list": pa.ListArray.from_arrays(OFFSETS, values, mask=NONE),
        "large list": pa.LargeListArray.from_arrays(OFFSETS.cast(pa.int64()), values, mask=NONE),
        "fixed list": pa.FixedSizeListArray.from_arrays(values, 2, mask=NONE),
        "view of lists": views,
        "struct": pa.StructArray.from_arrays([values, values], ["x", "y"], mask=pa.array([False, True] * 3)),
        "map": pa.MapArray.from_arrays(OFFSETS, pa.array(list("abcdef")), values),
        "list of structs": pa.ListArray.from_arrays(OFFSETS, pa.StructArray.from_arrays([values], ["x"])),
    }


CASES = {
    f"{what} of {encoding}": array
    for encoding, values in (
        ("dictionary of views", VIEWS),
        ("runs", RUNS),
        ("runs of dictionary", RUNS_OF_DICTIONARY),
        ("runs of lists", RUNS_OF_LISTS),
    )
    for what, array in nested(values).items()
}


@pytest.mark.parametrize("name", CASES)
def test_the_values_stay_the_same(name: str) -> None:
    array = CASES[name]
    target = decode_type(array.type)
    assert not any(word in str(target) for word in ("dictionary", "run_end", "view"))
    for start in range(len(array) + 1):
        for length in (0, 1, len(array)):
            piece = array.slice(start, length)
            found = decode(piece, target)
            found.validate(full=True)
            assert found.type == target
            assert found.to_pylist() == piece.to_pylist()


def test_a_column_of_a_plain_dictionary_stays() -> None:
    kind = pa.dictionary(pa.int8(), pa.string())
    assert decode_type(kind) == kind
    assert decode_type(pa.list_(kind)) == pa.list_(pa.string())


def test_a_uuid_is_text_unless_bytes_are_expected() -> None:
    stored = pa.chunked_array([pa.array([bytes(15) + b"\x05", None], pa.binary(16))])
    uuids = pa.chunked_array([pa.ExtensionArray.from_storage(pa.uuid(), stored.chunk(0))])
    text = ["00000000-0000-0000-0000-000000000005", None]
    assert plain_parameter(uuids, pa.null()).to_pylist() == text
    assert plain_parameter(stored, pa.string()).to_pylist() == text
    assert plain_parameter(stored, pa.null()) == stored
    assert plain_parameter(uuids, pa.binary(16)) == stored
    assert plain_parameter(uuids, pa.binary()).type == pa.binary()
