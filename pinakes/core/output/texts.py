"""Converts Arrow columns to columns of text, with Arrow's kernels where they print the same as
`core/output/value_format.py`.

`texts` and `json_texts` return exactly what `as_text` and `as_json` return for each plain value, and are many times
faster for flat types. Values that a kernel prints differently (a float with an exponent, a year beyond 9999) and nested
values take the slow path; tests compare the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.output.value_format import as_json, as_text, plain

PIECE_ROWS = 8192
"""Rows converted at a time: few enough to stay in the processor's cache."""
PIECE_BYTES = 8 << 20
_FEWEST_ROWS = 64
_NEEDS_ESCAPE = r'["\\\x00-\x1f]'
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800
"""Seconds since 1970 of the range of Python's dates, whose texts have a year of four digits."""
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yields a batch in slices of the size for conversion."""
    if batch.num_rows == 0:
        return
    fit = max(_FEWEST_ROWS, PIECE_BYTES * batch.num_rows // max(batch.nbytes, 1))
    size = min(PIECE_ROWS, fit)
    for start in range(0, batch.num_rows, size):
        yield batch.slice(start, size)


def texts(array: pa.Array) -> pa.Array:
    """Returns each value as text, NULL as NULL."""
    kind = array.type
    if isinstance(kind, pa.DictionaryType):
        return texts(array.dictionary_decode())
    found = _by_kernel(array, kind)
    return _one_by_one(array) if found is None else found


def json_texts(array: pa.Array) -> pa.Array:
    """Returns each value as JSON, NULL as `null`."""
    kind = array.type
    if isinstance(kind, pa.DictionaryType):
        return json_texts(array.dictionary_decode())
    types = pa.types
    if types.is_integer(kind) or types.is_boolean(kind):
        found = texts(array)
    elif types.is_floating(kind):
        found = _finite_or_quoted(array)
    elif is_text(kind):
        found = _quoted(texts(array), escape=True)
    elif types.is_temporal(kind) or types.is_decimal(kind):
        found = _quoted(texts(array), escape=False)
    else:
        found = pa.array([as_json(v) for v in plain(array)], pa.string())
    return pc.fill_null(found, "null")


def _by_kernel(array: pa.Array, kind: pa.DataType) -> pa.Array | None:
    types = pa.types
    if types.is_string(kind):
        return array
    if is_text(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return array.cast(pa.string())
    if types.is_float64(kind):
        return _floats(array)
    if types.is_decimal(kind):
        return _decimals(array, kind)
    if types.is_date32(kind):
        return array.cast(pa.string()) if _within(array.cast(pa.int32()), 86_400, 1) else None
    if types.is_timestamp(kind) and kind.tz in (None, "UTC"):
        return _timestamps(array, kind)
    return None


def _one_by_one(array: pa.Array) -> pa.Array:
    return pa.array([None if v is None else as_text(v) for v in plain(array)], pa.string())


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _floats(array: pa.Array) -> pa.Array:
    """Arrow prints 1.0 as 1, and uses exponents for other ranges than Python."""
    size = pc.abs(array)
    plainly = pc.or_(pc.and_(pc.greater_equal(size, 1e-4), pc.less(size, 1e10)), pc.equal(size, 0.0))
    found = array.cast(pa.string())
    whole = pc.and_(plainly, pc.equal(pc.trunc(array), array))
    if pc.any(whole).as_py():
        found = pc.if_else(whole, pc.binary_join_element_wise(found, ".0", ""), found)
    return _corrected(found, pc.invert(plainly), array)


def _finite_or_quoted(array: pa.Array) -> pa.Array:
    found = texts(array)
    if not pa.types.is_float64(array.type):
        array = array.cast(pa.float64())
    finite = pc.is_finite(array)
    return found if pc.all(finite).as_py() is not False else pc.if_else(finite, found, _quoted(found, escape=False))


def _decimals(array: pa.Array, kind: pa.DataType) -> pa.Array:
    found = array.cast(pa.string())
    if 0 <= kind.scale <= 6:  # Arrow writes an exponent only beyond
        return found
    return _corrected(found, pc.match_substring(found, "E"), array)


def _timestamps(array: pa.Array, kind: pa.DataType) -> pa.Array | None:
    counts = array.cast(pa.int64())
    if not _within(counts, 1, _PER_SECOND[kind.unit]):
        return None
    found = counts.cast(pa.timestamp(kind.unit)).cast(pa.string())
    found = pc.binary_replace_slice(found, 10, 11, "T")
    if kind.unit != "s":
        found = pc.ascii_rtrim(pc.ascii_rtrim(found, "0"), ".")
    return found if kind.tz is None else pc.binary_join_element_wise(found, "+00:00", "")


def _within(counts: pa.Array, times: int, per: int) -> bool:
    """Returns whether all values lie in the years 1 to 9999."""
    ends = pc.min_max(counts).as_py()
    least, most = ends["min"], ends["max"]
    return least is None or bool(_YEAR_1 * per <= least * times and most * times < _YEAR_10000 * per)


def _corrected(found: pa.Array, wrong: pa.Array, array: pa.Array) -> pa.Array:
    """Returns `found` with the values marked by `wrong` printed one by one."""
    if not pc.any(wrong).as_py():
        return found
    wrong = pc.fill_null(wrong, False)
    return pc.replace_with_mask(found, wrong, _one_by_one(array.filter(wrong)))


def _quoted(found: pa.Array, *, escape: bool) -> pa.Array:
    quoted = pc.binary_join_element_wise('"', found, '"', "")
    if not escape:
        return quoted
    wrong = pc.match_substring_regex(found, _NEEDS_ESCAPE)
    if not pc.any(wrong).as_py():
        return quoted
    wrong = pc.fill_null(wrong, False)
    escaped = [json.dumps(text, ensure_ascii=False) for text in found.filter(wrong).to_pylist()]
    return pc.replace_with_mask(quoted, wrong, pa.array(escaped, pa.string()))


def content_of(found: pa.StringArray) -> bytes:
    """Returns the concatenated text of a column for searching; it may include bytes under NULLs."""
    _, bounds, content = found.buffers()
    if not len(found) or content is None:
        return b""
    ends = memoryview(bounds).cast("i")
    start, end = ends[found.offset], ends[found.offset + len(found)]
    return bytes(content.slice(start, end - start))


def joined(rows: pa.Array, between: str) -> pa.Buffer:
    """Joins all rows; there is at least one."""
    bounds = pa.array([0, len(rows)], pa.int32())
    return pc.binary_join(pa.ListArray.from_arrays(bounds, rows), between).buffers()[2]
