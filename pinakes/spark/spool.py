"""Transfers rows through files: results that exceed memory, and local rows that Spark reads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from pinakes.core.errors import NotSupportedError
from pinakes.parser.spark.types import in_spark

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from pinakes.engine.remote.interface import HandedOver

MOST_SENT = 256_000_000
"""Maximum bytes of rows that are sent to a Spark without a shared directory."""
_ROWS = 65_536
_PART = 4 << 20


class Spool:
    """A directory that Spark and this process can access."""

    def __init__(self, place: str) -> None:
        self.place = place.rstrip("/")
        is_local = urlsplit(place).scheme in ("", "file")
        self._files: Any
        self._root: str
        self._files, self._root = (
            (fs.LocalFileSystem(), self.place.removeprefix("file://"))
            if is_local
            else fs.FileSystem.from_uri(self.place)
        )
        self._is_local = is_local

    def uri(self, name: str) -> str:
        return f"file://{self._root}/{name}" if self._is_local else f"{self.place}/{name}"

    def read(self, name: str) -> Iterator[pa.RecordBatch]:
        """Yields the rows of the files that Spark wrote, in order; removes each file after reading."""
        selector = fs.FileSelector(f"{self._root}/{name}")
        found = self._files.get_file_info(selector)
        for info in sorted((i for i in found if i.base_name.startswith("part-")), key=lambda i: i.base_name):
            with self._files.open_input_file(info.path) as file:
                yield from pq.ParquetFile(file).iter_batches(_ROWS)
            self._files.delete_file(info.path)

    def write(self, name: str, rows: HandedOver) -> None:
        """Writes local rows for Spark."""
        schema = pa.schema([pa.field(f.name, plain(f.type)) for f in rows.schema])
        self._files.create_dir(f"{self._root}/{name}", recursive=True)
        with (
            self._files.open_output_stream(f"{self._root}/{name}/part-0.parquet") as file,
            pq.ParquetWriter(file, schema, coerce_timestamps="us") as writer,
        ):
            for batch in rows.batches():
                writer.write_batch(conformed(batch, schema))

    def copy(self, name: str, bytes: pa.NativeFile) -> None:
        """Copies a file for Spark."""
        with self.output(name) as file:
            while part := bytes.read(_PART):
                file.write(part)

    def output(self, name: str) -> pa.NativeFile:
        """Opens a file for writing."""
        self._files.create_dir(f"{self._root}/{name}".rpartition("/")[0], recursive=True)
        return self._files.open_output_stream(f"{self._root}/{name}", compression=None)

    def remove(self, name: str) -> None:
        if self._is_local:
            shutil.rmtree(Path(self._root) / name, ignore_errors=True)
        elif self._files.get_file_info(f"{self._root}/{name}").type != fs.FileType.NotFound:
            self._files.delete_dir(f"{self._root}/{name}")


def sent(spark: SparkSession, rows: HandedOver) -> Any:
    """Sends local rows over the connection; returns them as a Spark data frame."""
    schema = pa.schema([pa.field(f.name, plain(f.type)) for f in rows.schema])
    batches, size = [], 0
    for batch in rows.batches():
        size += batch.nbytes
        if size > MOST_SENT:
            raise NotSupportedError(
                f"more than {MOST_SENT:,} bytes of rows that only this process can read would have to be sent to "
                f"Spark. Give both a directory they share: spool in [spark]."
            )
        batches.append(conformed(batch, schema))
    return spark.createDataFrame(pa.Table.from_batches(batches, schema=schema))


def plain(type: pa.DataType) -> pa.DataType:
    """Returns the type of local values for Spark."""
    name = in_spark(type)
    if name is None or name == "void":
        raise NotSupportedError(f"values of type {type} can't be handed over to Spark. SET engine = 'local'.")
    if pa.types.is_timestamp(type):
        return pa.timestamp("us", type.tz and "UTC")
    if pa.types.is_uint64(type):
        return pa.decimal128(20, 0)
    wider = {"smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(), "string": pa.string()}
    return wider.get(name, pa.binary() if name == "binary" else type)


def conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns the batch in this schema, by position; a lossy cast is an error."""
    columns = [_conformed(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _conformed(column: pa.Array, type: pa.DataType) -> pa.Array:
    if pa.types.is_null(type) and column.null_count == len(column):  # Arrow can't cast to the type of NULL
        return pa.nulls(len(column))
    return column if column.type == type else column.cast(type)
