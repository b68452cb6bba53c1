"""Merge-on-read deletes: position delete files or deletion vectors, without rewriting data files.

Format version 2 has position delete files: one Parquet file per data file here. Version 3 has deletion vectors, one per
data file, all of a statement in one Puffin file. Earlier deletes of a data file are merged into the new ones, so that
each data file has at most one of ours; the old ones are removed in the same snapshot.
"""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io import OutputStream
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyroaring import BitMap64

from pinakes.caches.files import ManifestCache
from pinakes.core.catalog import IcebergTable
from pinakes.engine.iceberg.scan.deletes import DeleteFile, Deletes
from pinakes.engine.iceberg.scan.positions import MAGIC, deleted_rows
from pinakes.engine.iceberg.scan.tasks import Task
from pinakes.engine.iceberg.write.new_files import NewFiles
from pinakes.engine.iceberg.write.puffin import Blob, puffin
from pinakes.providers.iceberg.v3.records import DataFileV3

PATH_ID, POSITION_ID, ROW_POSITION_ID = 2147483546, 2147483545, 2147483645
"""Iceberg's reserved field ids: the two columns of a position delete file, and the position of a row."""
_SCHEMA = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": str(PATH_ID)}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": str(POSITION_ID)}),
    ]
)


class DeleteWriter(NewFiles):
    """Writes the deletes of one statement. A context manager: on exit, files that were not kept are removed."""

    def __init__(self, table: IcebergTable, cache: ManifestCache) -> None:
        super().__init__(table.handle.io)
        self.files: list[DataFile] = []
        self.replaced: list[DeleteFile] = []
        """Earlier deletes of a single data file that the new ones include."""
        self._of, self._cache = table, cache
        self._table = table.handle

    def write(self, places: Mapping[str, BitMap64], tasks: Mapping[str, Task]) -> None:
        """Deletes the rows at these positions of each data file, by path."""
        merged = {path: positions | self._deleted(path, tasks[path].deletes) for path, positions in places.items()}
        for path in merged:
            self.replaced += [file for file in tasks[path].deletes.positions if file.target is not None]
        merged = {path: positions for path, positions in merged.items() if positions}  # deletes may be of other files
        if merged and self._table.format_version >= 3:
            self._vectors(merged, tasks)
        else:
            for path, positions in merged.items():
                self.files.append(self._positional(path, positions, tasks[path]))

    def _deleted(self, path: str, deletes: Deletes) -> BitMap64:
        """Returns the rows of a data file that are deleted by position."""
        return BitMap64(deleted_rows(self._of, self._cache, path, deletes.positions).tolist())

    def _positional(self, path: str, positions: BitMap64, task: Task) -> DataFile:
        rows = as_array(positions)
        columns = [pa.repeat(pa.scalar(path), len(rows)), rows]
        location = self._location("parquet")
        with self._created(location) as stream, pq.ParquetWriter(stream, _SCHEMA) as writer:
            writer.write_table(pa.Table.from_arrays(columns, schema=_SCHEMA))
        ends = [rows[0].as_py(), rows[-1].as_py()]
        bounds = [{PATH_ID: path.encode(), POSITION_ID: end.to_bytes(8, "little", signed=True)} for end in ends]
        file = DataFile.from_args(
            content=DataFileContent.POSITION_DELETES,
            file_path=location,
            file_format=FileFormat.PARQUET,
            partition=task.file.partition,
            record_count=len(rows),
            file_size_in_bytes=len(self._table.io.new_input(location)),
            lower_bounds=bounds[0],
            upper_bounds=bounds[1],
        )
        file.spec_id = task.file.spec_id
        return file

    def _vectors(self, places: Mapping[str, BitMap64], tasks: Mapping[str, Task]) -> None:
        location = self._location("puffin")
        made = puffin([_blob(path, positions) for path, positions in places.items()])
        with self._created(location) as stream:
            stream.write(made.content)
        for (path, positions), offset in zip(places.items(), made.offsets, strict=True):
            length = len(blob_of(positions))
            size = len(made.content)
            self.files.append(_vector_file(location, size, len(positions), path, offset, length, tasks[path]))

    def _created(self, location: str) -> OutputStream:
        """Creates a file without an existence check: the name is new, and some stores do not permit to look for a
        missing file.
        """
        return self._table.io.new_output(location).create(overwrite=True)

    def _location(self, extension: str) -> str:
        name = f"{uuid.uuid4()}-deletes.{extension}"
        self.paths.append(self._table.location_provider().new_data_location(data_file_name=name))
        return self.paths[-1]


def target_of(delete: DataFile) -> str | None:
    """Returns the data file that a delete file applies to; None if there may be several."""
    if isinstance(delete, DataFileV3) and delete.referenced_data_file is not None:
        return delete.referenced_data_file
    if delete.content != DataFileContent.POSITION_DELETES:
        return None
    least, greatest = (delete.lower_bounds or {}).get(PATH_ID), (delete.upper_bounds or {}).get(PATH_ID)
    return least.decode() if least is not None and least == greatest else None


def _vector_file(location: str, size: int, rows: int, path: str, offset: int, length: int, task: Task) -> DataFileV3:
    file = DataFileV3.from_args(
        _table_format_version=3,
        content=DataFileContent.POSITION_DELETES,
        file_path=location,
        file_format=FileFormat.PUFFIN,
        partition=task.file.partition,
        record_count=rows,
        file_size_in_bytes=size,
        referenced_data_file=path,
        content_offset=offset,
        content_size_in_bytes=length,
    )
    assert isinstance(file, DataFileV3)
    file.spec_id = task.file.spec_id
    return file


def blob_of(bitmap: BitMap64) -> bytes:
    """Returns a deletion vector in the format of a Puffin blob (see `scan/positions.py`)."""
    body = MAGIC + bitmap.serialize()
    return len(body).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")


def as_array(bitmap: BitMap64) -> pa.Array:
    """Returns the positions in order."""
    numbers = bitmap.to_array()
    return pa.Array.from_buffers(pa.uint64(), len(numbers), [None, pa.py_buffer(numbers)]).cast(pa.int64())


def _blob(path: str, positions: BitMap64) -> Blob:
    """Returns a blob without a snapshot id: the vector is written before its snapshot exists."""
    properties = {"referenced-data-file": path, "cardinality": str(len(positions))}
    return Blob("deletion-vector-v1", [ROW_POSITION_ID], blob_of(positions), properties)
