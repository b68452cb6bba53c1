"""Arrow arrays that say much with few bytes: dictionaries, runs, views, NULLs.

A message of a hundred bytes can have a billion rows, and a text of a megabyte that a million rows refer to. Decoding
such a batch in one piece took all memory. `pieces` splits batches from outside, so that each piece can be decoded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.types.arrow_names import is_any_list

PIECE_BYTES = 64 << 20
"""The most that a piece takes when it is decoded, unless a single row does."""
PIECE_ROWS = 1 << 20
BATCH_ROWS = 1 << 15


def pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Splits a batch that may be much larger when decoded than it is; others are yielded as they are."""
    width = row_width(batch)
    if not width or batch.num_rows * width <= PIECE_BYTES:
        yield batch
        return
    rows = max(1, min(PIECE_ROWS, PIECE_BYTES // width))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def small_pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Splits a batch of another program into few rows, and few bytes unless a single row has many."""
    most = min(BATCH_ROWS, max(1, PIECE_BYTES * batch.num_rows // max(1, decoded_size(batch))))
    for start in range(0, batch.num_rows, most):
        piece = batch.slice(start, most)
        # Rows differ in size; a piece that is still much too large is split again.
        yield from small_pieces(piece) if 1 < most < batch.num_rows and piece.nbytes > 2 * PIECE_BYTES else (piece,)


def decoded_size(batch: pa.RecordBatch) -> int:
    """Returns the bytes that a batch takes at most when it is decoded."""
    return int(max(batch.nbytes, batch.num_rows * row_width(batch)))


def row_width(batch: pa.RecordBatch) -> int:
    """Returns the bytes of the widest row in the columns that can expand; 0 if no column can."""
    return sum(_width(column) for column in batch.columns if _expands(column.type))


def _expands(t: pa.DataType) -> bool:
    """Whether rows can take fewer bytes in an array than their values do."""
    if isinstance(t, pa.BaseExtensionType):
        return _expands(t.storage_type)
    if is_.is_list(t) or is_.is_large_list(t) or is_.is_map(t):
        return any(_expands(t.field(i).type) for i in range(t.num_fields))
    if is_.is_struct(t) or is_.is_fixed_size_list(t):
        return not t.num_fields or any(_expands(t.field(i).type) for i in range(t.num_fields)) or _is_empty(t)
    return is_.is_nested(t) or is_.is_dictionary(t) or is_.is_run_end_encoded(t) or _is_view(t) or _is_empty(t)


def _is_view(t: pa.DataType) -> bool:
    return t in (pa.string_view(), pa.binary_view())


def _is_empty(t: pa.DataType) -> bool:
    """Whether a value takes no bytes."""
    return (
        is_.is_null(t)
        or (is_.is_fixed_size_binary(t) and not t.byte_width)
        or (is_.is_fixed_size_list(t) and not t.list_size)
    )


def _width(array: pa.Array) -> int:
    """Returns an upper bound of the bytes of one value of an array when it is decoded."""
    t = array.type
    if isinstance(array, pa.ExtensionArray):
        return _width(array.storage)
    if is_.is_dictionary(t):
        return _width(array.dictionary)
    if is_.is_run_end_encoded(t):
        return _width(array.values)
    if is_.is_struct(t):
        return 1 + sum(map(_width, array.flatten()))
    if is_.is_union(t):
        return 1 + sum(_width(array.field(i)) for i in range(t.num_fields))
    if is_.is_fixed_size_list(t):
        return 1 + int(t.list_size) * _width(array.values)
    if is_.is_map(t):
        longest = np.diff(array.offsets.to_numpy()).max(initial=0)
        return 8 + int(longest) * (_width(array.keys) + _width(array.items))
    if is_any_list(t):
        return 8 + (pc.max(pc.list_value_length(array)).as_py() or 0) * _width(array.values)
    if _is_view(t):
        views = np.frombuffer(array.buffers()[1] or b"", np.int32)[::4]
        return 16 + int(views[array.offset : array.offset + len(array)].max(initial=0))
    if is_.is_string(t) or is_.is_binary(t) or is_.is_large_string(t) or is_.is_large_binary(t):
        return 8 + (pc.max(pc.binary_length(array)).as_py() or 0)
    return 1 if is_.is_null(t) else max(1, t.bit_width // 8)
