"""Parquet files of object stores: read by Arrow, the requested columns of one row group at a time.

DataFusion's own scans would need the keys in a registry by bucket that all statements of a session share: two secrets
for two parts of one bucket, or one that is replaced while a statement runs, would be mixed up (ADR 0009).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.engine.files.extras import Extras
from pinakes.engine.files.opened import Opened, streamed
from pinakes.engine.files.options import ParquetOptions
from pinakes.engine.files.parquet_footers import file_schema, footer_of
from pinakes.engine.files.paths import File
from pinakes.engine.files.schemas import presented, united
from pinakes.engine.files.stores import each

_BATCH_ROWS = 32_768


def open_streamed(files: Sequence[File], options: ParquetOptions, zone: str) -> Opened:
    footers = dict(zip(files, each(footer_of, files), strict=True))
    schemas = [(file, presented(file_schema(file, footer), zone)) for file, footer in footers.items()]
    whole = united(schemas, by_name=options.union_by_name)

    def rows(file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return _rows(file, footers[file], columns)

    return streamed(files, whole, Extras(files, options), rows)


def _rows(file: File, footer: pq.FileMetaData, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yields the rows. If the file has none of the columns, yields batches with the row count only."""
    with file.open() as source:
        opened = pq.ParquetFile(source, metadata=footer, pre_buffer=True)
        for group in range(opened.num_row_groups):
            yield from opened.iter_batches(_BATCH_ROWS, [group], list(columns))
