"""Positions of deleted rows in data files: each delete file is read once and cached.

A deletion vector is a part of a Puffin file: its length, a magic number, a bitmap of 64-bit numbers and a checksum.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds
from pyiceberg.io import FileIO
from pyroaring import BitMap

from pinakes.caches.files import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.engine.iceberg.scan.avro import read_avro_aside
from pinakes.engine.iceberg.scan.deletes import DeleteFile
from pinakes.engine.iceberg.scan.locations import remembered_as
from pinakes.engine.iceberg.scan.unreadable import reading

MAGIC = b"\xd1\xd3\x39\x64"
_FRAME = 8
"""Bytes around a bitmap that its length does not include: the length itself and the checksum."""
LARGEST_VECTOR, MOST_POSITIONS, HIGHEST = 64 << 20, 1 << 27, 1 << 8
"""The maximum bytes and rows of a deletion vector, and the maximum upper half of a position: no data file has more than
2^40 rows.
"""


@dataclass(frozen=True, slots=True)
class Positions:
    """The sorted positions of deleted rows, for each data file that a delete file names."""

    of: dict[str, array[int]]

    @property
    def nbytes(self) -> int:
        return 500 + sum(len(path) + 200 + 8 * len(rows) for path, rows in self.of.items())


def deleted_rows(table: IcebergTable, cache: ManifestCache, path: str, files: Iterable[DeleteFile]) -> array[int]:
    """Returns the sorted, distinct positions of the deleted rows of one data file."""
    io = table.handle.io
    found = []
    for file in files:
        with reading(table, file.path):
            found.append(_read(io, cache, file).of.get(path, array("q")))
    return found[0] if len(found) == 1 else array("q", sorted(set().union(*found)))


def without(batch: pa.RecordBatch, at: int, gone: array[int]) -> pa.RecordBatch:
    """Returns the live rows of a batch whose first row is at position `at`."""
    first, last = bisect_left(gone, at), bisect_left(gone, at + batch.num_rows)
    if first == last:
        return batch
    kept = bytearray(b"\1") * batch.num_rows
    for place in gone[first:last]:
        kept[place - at] = 0
    mask = pa.Array.from_buffers(pa.uint8(), batch.num_rows, [None, pa.py_buffer(kept)])
    return batch.filter(mask.cast(pa.bool_()))


def counting(start: int, count: int) -> pa.Array:
    """Returns consecutive row positions."""
    return pc.add(_from_zero(max(count, 1 << 17)).slice(0, count), start)


@lru_cache(maxsize=4)
def _from_zero(count: int) -> pa.Array:
    """Cached, since Arrow converts the range number by number."""
    return pa.array(range(count), pa.int64())


def _read(io: FileIO, cache: ManifestCache, file: DeleteFile) -> Positions:
    key = remembered_as(file.path, io)
    if file.is_vector:
        place = f"{file.offset} {file.length} {file.record_count} {file.target}"
        return cache.get("vector", f"{key} {place}", lambda: _vector(io, file))
    return cache.get("positions", f"{key} {file.format} {file.record_count}", lambda: _positions(io, file))


# --- files of positions ------------------------------------------------------------------------------------------


def _positions(io: FileIO, file: DeleteFile) -> Positions:
    kinds = {"PARQUET": pds.ParquetFileFormat, "ORC": pds.OrcFileFormat}
    if file.format == "AVRO":
        rows = read_avro_aside(io, file.path)[0].select(["file_path", "pos"])
    elif file.format in kinds:
        with io.new_input(file.path).open() as stream:
            rows = kinds[file.format]().make_fragment(stream).to_table(columns=["file_path", "pos"])
    else:
        raise ValueError(f"deletes in the format {file.format} are not known")
    if rows.num_rows != file.record_count:
        raise ValueError(f"it has {rows.num_rows} rows; the metadata says {file.record_count}")
    paths = rows.column("file_path")
    return Positions({path: _rows_of(rows, pc.equal(paths, path)) for path in pc.unique(paths).to_pylist()})


def _rows_of(rows: pa.Table, mask: pa.ChunkedArray) -> array[int]:
    places = pc.unique(rows.filter(mask).column("pos").cast(pa.int64()))
    return _as_array(places.take(pc.sort_indices(places)))


def _as_array(places: pa.Array) -> array[int]:
    found = array("q")
    found.frombytes(memoryview(places.buffers()[1])[8 * places.offset : 8 * (places.offset + len(places))])
    return found


# --- deletion vectors --------------------------------------------------------------------------------------------


def _vector(io: FileIO, file: DeleteFile) -> Positions:
    offset, length = file.offset or 0, file.length or 0
    if not offset >= 0 or not 0 <= length <= LARGEST_VECTOR or not 0 <= file.record_count <= MOST_POSITIONS:
        raise ValueError(f"the deletion vector at {offset} has {length} bytes and {file.record_count} rows")
    with io.new_input(file.path).open() as stream:
        stream.seek(offset)
        blob = stream.read(length)
    bitmaps = list(_bitmaps(_payload(blob, length)))
    count = sum(len(bitmap) for _, bitmap in bitmaps)
    if count != file.record_count:  # checked before unpacking: a few bytes may represent billions of rows
        raise ValueError(f"the deletion vector at {offset} has {count} rows; the metadata says {file.record_count}")
    places = array("q")
    for high, bitmap in bitmaps:
        low = bitmap.to_array()
        plain = pa.Array.from_buffers(pa.uint32(), len(low), [None, pa.py_buffer(low)]).cast(pa.int64())
        places.extend(_as_array(pc.add(plain, high << 32)))
    return Positions({file.target or "": places})


def _bitmaps(payload: bytes) -> Iterator[tuple[int, BitMap]]:
    """Yields the bitmaps of a deletion vector with the upper halves of their positions.

    pyiceberg's reader creates an empty bitmap for each missing upper half, and a file of a few bytes may skip two
    billion.
    """
    rest, last = memoryview(payload)[8:], -1
    for _ in range(int.from_bytes(payload[:8], "little")):
        high = int.from_bytes(rest[:4], "little")
        if len(rest) < 4 or not last < high < HIGHEST:
            raise ValueError("the bitmaps of a deletion vector are not in order")
        bitmap = BitMap.deserialize(bytes(rest[4:]))
        yield high, bitmap
        rest, last = rest[4 + len(bitmap.serialize()) :], high


def _payload(blob: bytes, length: int) -> bytes:
    """Returns the bitmap of a deletion vector after checking its frame."""
    size = int.from_bytes(blob[:4], "big")
    if len(blob) != length or size != length - _FRAME or blob[4:8] != MAGIC:
        raise ValueError("it has no deletion vector where the metadata says")
    checked, checksum = blob[4:-4], int.from_bytes(blob[-4:], "big")
    if zlib.crc32(checked) != checksum:
        raise ValueError("the checksum of a deletion vector is another")
    return checked[4:]
