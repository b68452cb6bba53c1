"""Parquet files, and Arrow files (IPC file and stream, Feather), which are converted to Parquet for Spark.

The footers of new files are read here, so that a broken file or one with other columns is reported by name before Spark
starts. Files are grouped by schema.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.pipelines.loads.reading import shape
from pinakes.pipelines.loads.reading.inputs import Copies, Input, Unreadable
from pinakes.pipelines.loads.reading.interface import check_names, find_unknown, merge_columns, unite_frames
from pinakes.pipelines.loads.reading.shape import Column
from pinakes.pipelines.loads.reading.sniff import inspect_files
from pinakes.spark.spool import conformed, plain

if TYPE_CHECKING:
    from pinakes.spark.dataframes import SparkSession

_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class ParquetFiles:
    """`groups` maps each schema to its files."""

    spark: SparkSession
    groups: Mapping[tuple[tuple[str, str], ...], Sequence[Input]]
    unreadable: list[Unreadable]

    @classmethod
    def of(cls, spark: SparkSession, inputs: Sequence[Input], copies: Copies, *, arrow: bool) -> ParquetFiles:
        seen, unreadable = inspect_files(lambda entry: _inspect(entry, copies, arrow=arrow), inputs)
        groups: dict[tuple[tuple[str, str], ...], list[Input]] = {}
        for _, (entry, schema) in seen.values():
            check_names(schema.names, entry.path)
            groups.setdefault(tuple((f.name, str(f.type)) for f in schema), []).append(entry)
        return cls(spark, groups, unreadable)

    @property
    def inputs(self) -> Sequence[Input]:
        return [entry for group in self.groups.values() for entry in group]

    def lines(self) -> None:
        return None

    def only(self, uris: Collection[str]) -> ParquetFiles:
        groups = {key: [i for i in group if i.uri in uris] for key, group in self.groups.items()}
        return replace(self, groups={key: group for key, group in groups.items() if group})

    def inferred(self) -> list[Column]:
        """Returns the columns of the files. Nothing is guessed, so the types are not widened for a single schema."""
        shapes = [shape.columns_of(self._read(group).schema) for group in self.groups.values()]
        if len(shapes) == 1:
            return [Column(column.name, column.type) for column in shapes[0]]
        return merge_columns(shapes)

    def unknown(self, columns: Sequence[Column]) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, group in self.groups.items():
            for name in find_unknown([name for name, _ in key], columns):
                found.setdefault(name, group[0].path)
        return found

    def frame(self, columns: Sequence[Column]) -> Any:
        return unite_frames(
            shape.to_records(self._read(group), columns, "_metadata.file_path") for group in self.groups.values()
        )

    def _read(self, group: Sequence[Input]) -> Any:
        return self.spark.read.parquet(*(entry.uri for entry in group))


def _inspect(entry: Input, copies: Copies, *, arrow: bool) -> tuple[Input, pa.Schema]:
    """Returns the file as Spark should read it, and its schema."""
    if arrow:
        return _convert(entry, copies, _arrow_batches(entry))
    with entry.file.open() as opened:
        schema = pq.read_schema(opened)
    if any(_has_nanoseconds(field.type) for field in schema):
        return _convert(entry, copies, _parquet_batches(entry))
    return entry, schema


def _has_nanoseconds(type: pa.DataType) -> bool:
    """Whether a type has nanoseconds, which Spark can't read from Parquet."""
    return bool(pa.types.is_timestamp(type) and type.unit == "ns")


def _convert(entry: Input, copies: Copies, batches: Iterator[pa.RecordBatch | pa.Schema]) -> tuple[Input, pa.Schema]:
    schema = next(batches)
    assert isinstance(schema, pa.Schema)
    target = pa.schema([pa.field(f.name, plain(_without_dictionary(f.type))) for f in schema])
    name = copies.new(".parquet")
    spool = copies.spool()
    with spool.output(name) as file, pq.ParquetWriter(file, target, coerce_timestamps="us") as writer:
        for batch in batches:
            writer.write_batch(conformed(batch, target))
    return replace(entry, uri=spool.uri(name)), target


def _without_dictionary(type: pa.DataType) -> pa.DataType:
    return type.value_type if pa.types.is_dictionary(type) else type


def _parquet_batches(entry: Input) -> Iterator[Any]:
    with entry.file.open() as opened:
        found = pq.ParquetFile(opened)
        yield found.schema_arrow
        yield from found.iter_batches(_ROWS)


def _arrow_batches(entry: Input) -> Iterator[Any]:
    """Yields the schema, and then the batches one at a time: of a file (Feather included) or of a stream."""
    with entry.file.open() as opened:
        try:
            found = pa.ipc.open_file(opened)
        except pa.ArrowInvalid:
            opened.seek(0)
            stream = pa.ipc.open_stream(opened)
            yield stream.schema
            yield from stream
            return
        yield found.schema
        yield from (found.get_batch(at) for at in range(found.num_record_batches))
