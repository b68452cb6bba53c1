"""ORC files, read stripe by stripe by Arrow. A hostile file can crash its reader: a server reads them for
administrators only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import orc

from pinakes.core.arrays.expanding import pieces
from pinakes.core.errors import DataCorrupt
from pinakes.engine.files.paths import File
from pinakes.engine.files.reading.dataset import FilesSource, stream_files
from pinakes.engine.files.reading.options import OrcOptions
from pinakes.engine.files.reading.path_columns import PathColumns
from pinakes.engine.files.reading.schemas import check_names, present_schema, unite_schemas
from pinakes.engine.files.reading.streams import error_of_store, read_errors, refuse_hostile


def open_orc(files: Sequence[File], options: OrcOptions, zone: str) -> FilesSource:
    refuse_hostile(files, "ORC files are")
    schemas = [(file, present_schema(_read_schema(file), zone)) for file in files]
    whole = unite_schemas(schemas, by_name=options.union_by_name)
    return stream_files(files, whole, PathColumns(files, options), _read_rows)


def _read_schema(file: File) -> pa.Schema:
    with read_errors(file), _open(file) as opened:
        schema = opened.schema
    check_names(schema, file)
    return schema.remove_metadata()


def _read_rows(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with _open(file) as opened:
        names = opened.schema.names
        own = [name for name in names if name in columns] or names[:1]
        # A name with a dot would mean a field of a struct.
        wanted = None if any("." in name for name in names) else own
        for stripe in range(opened.nstripes):
            for batch in pieces(opened.read_stripe(stripe, columns=wanted)):
                yield batch.select(own)


@contextmanager
def _open(file: File) -> Iterator[orc.ORCFile]:
    with file.open() as source:
        try:
            opened = orc.ORCFile(source)
        except (pa.ArrowException, OSError) as error:
            if (said := error_of_store(error, file)) is not None:
                raise said from error
            raise DataCorrupt(f"{file} is not a readable ORC file: {str(error).splitlines()[0][:200]}") from error
        yield opened
