"""Arrow IPC files and streams (.arrow, .feather, .ipc), read batch by batch.

Every batch is validated before use: a broken file could otherwise crash the process. So could a memory-mapped file that
is truncated meanwhile: files are read, not mapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from pinakes.core.arrays.expanding import pieces
from pinakes.core.errors import DataCorrupt
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.options import ArrowOptions
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.schemas import check_names, present_schema, unite_schemas
from pinakes.engine.files.reading.streams import error_of_store, read_errors

_FILE, _FEATHER_1 = b"ARROW1", b"FEA1"


def open_arrow(files: Sequence[File], options: ArrowOptions, zone: str) -> FilesSource:
    schemas = [(file, present_schema(_read_schema(file), zone)) for file in files]
    whole = unite_schemas(schemas, by_name=options.union_by_name)
    return stream_files(files, whole, PathColumns(files, options), _read_rows)


def _read_schema(file: File) -> pa.Schema:
    with read_errors(file), _open_reader(file, None) as reader:
        schema = reader.schema
    check_names(schema, file)
    return schema.remove_metadata()


def _read_rows(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with _open_reader(file, columns) as reader:
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        else:
            batches = iter(reader)
        for batch in batches:
            batch.validate(full=True)
            yield from pieces(batch)


@contextmanager
def _open_reader(file: File, columns: Sequence[str] | None) -> Iterator[pa.ipc.RecordBatchFileReader]:
    """Opens a reader of a file or stream, for the named columns only."""
    with file.open() as source:
        start = source.read(6)
        source.seek(0)
        if not start:
            raise DataCorrupt(f"{file} is empty: an Arrow file has at least a schema")
        if start.startswith(_FEATHER_1):
            raise DataCorrupt(f"{file} is of Feather's version 1: write it again with a current version of Arrow")
        opened = pa.ipc.open_file if start.startswith(_FILE) else pa.ipc.open_stream
        try:
            reader = opened(source)
            if columns is not None and set(columns) != set(reader.schema.names):
                wanted = [i for i, name in enumerate(reader.schema.names) if name in columns]
                source.seek(0)
                reader = opened(source, options=pa.ipc.IpcReadOptions(included_fields=wanted)) if wanted else reader
        except (pa.ArrowException, OSError) as error:
            if (said := error_of_store(error, file)) is not None:
                raise said from error
            raise DataCorrupt(f"{file} is not a readable Arrow file: {str(error).splitlines()[0][:200]}") from error
        yield reader
