"""Writes one Parquet file: opened with its first row group, and closed with a manifest entry."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types as is_
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionKey
from pyiceberg.typedef import Record

from pinakes.engine.iceberg.scan.widths import record_rows
from pinakes.engine.iceberg.write.parquet.columns import Columns, Leaf
from pinakes.engine.iceberg.write.parquet.layout import Layout
from pinakes.engine.iceberg.write.parquet.metrics import Observed, entry_metrics, leaf_chunks, observed

_SAMPLE = 16_384
_FEW = 1024
_DISTINCT = 0.6
"""The share of distinct values in a sample above which no dictionary is used."""


@dataclass(frozen=True, slots=True)
class Target:
    """The settings that all files of one statement share."""

    io: FileIO
    columns: Columns
    layout: Layout
    sorted: bool = False
    """Whether the rows are in the table's sort order."""


class OpenFile:
    """An open file: `write` row groups, then `close` for the manifest entry, or `discard`."""

    def __init__(self, target: Target, path: str, key: PartitionKey | None, first: pa.Table) -> None:
        self.path = path
        self._target, self._key = target, key
        self._groups: list[Observed] = []
        self._sink = target.io.new_output(path).create(overwrite=True)
        try:
            self._writer = pq.ParquetWriter(
                self._sink,
                target.columns.file_schema,
                use_dictionary=_dictionaries(first, target),
                bloom_filter_options=_bloom(target) or None,
                **target.layout.options,
            )
        except BaseException:
            self._sink.close()
            raise

    def write(self, table: pa.Table) -> None:
        """Writes the rows as one row group. The columns are those of the file."""
        record_rows(self._target.columns.metadata, table)
        self._groups.append(observed(table, self._target.columns.leaves))
        self._writer.write_table(table, row_group_size=table.num_rows)

    @property
    def size(self) -> int:
        """The bytes written so far."""
        return int(self._sink.tell())

    def close(self) -> DataFile:
        """Finishes the file; it is stored when this returns."""
        self._writer.close()
        size = self.size
        self._sink.close()
        metadata = self._target.columns.metadata
        return DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=self.path,
            file_format=FileFormat.PARQUET,
            partition=self._key.partition if self._key is not None else Record(),
            file_size_in_bytes=size,
            sort_order_id=metadata.default_sort_order_id if self._target.sorted else None,
            spec_id=metadata.default_spec_id,
            equality_ids=None,
            key_metadata=None,
            **entry_metrics(self._writer.writer.metadata, self._target.columns.leaves, self._groups),
        )

    def discard(self) -> None:
        """Abandons the file; the caller removes it. Errors are suppressed, since they would hide the original one."""
        with suppress(Exception):
            self._writer.close()
        with suppress(Exception):
            self._sink.close()


def _dictionaries(first: pa.Table, target: Target) -> list[str]:
    """Returns the columns to dictionary-encode: not those with mostly distinct values, for which Arrow would fall
    back.
    """
    return [leaf.path for leaf in target.columns.leaves if _repeats(leaf_chunks(first.column(leaf.position), leaf))]


def _repeats(chunks: Iterable[pa.Array]) -> bool:
    sample = _sample(chunks)
    if sample is None or is_.is_boolean(sample.type):
        return False
    if isinstance(sample, pa.ExtensionArray):
        sample = sample.storage
    if len(sample) < _FEW:
        return True
    return bool(pc.count_distinct(sample).as_py() <= _DISTINCT * len(sample))


def _sample(chunks: Iterable[pa.Array]) -> pa.Array | None:
    """Returns a sample of values, from several chunks if these are short, since few values look alike."""
    taken: list[pa.Array] = []
    missing = _SAMPLE
    for chunk in sorted(chunks, key=len, reverse=True):
        if missing <= 0:
            break
        taken.append(chunk.slice(0, missing))
        missing -= len(taken[-1])
    return pa.concat_arrays(taken) if taken else None


def _bloom(target: Target) -> dict[str, dict[str, Any]]:
    layout = target.layout
    by_name = {leaf.name: leaf for leaf in target.columns.leaves}
    wanted = {by_name[name]: odds for name, odds in layout.bloom.items() if name in by_name}
    return {leaf.path: _filter(layout, odds) for leaf, odds in wanted.items() if not _is_flag(leaf)}


def _filter(layout: Layout, odds: float) -> dict[str, Any]:
    """Returns filter options for a row group of distinct values, limited by the table's maximum size."""
    room = layout.bloom_bytes * 8
    values = layout.group_rows
    while values > 1 and _bits(values, odds) > room:
        values //= 2
    return {"ndv": values, "fpp": odds}


def _bits(values: int, odds: float) -> float:
    """Returns the size of Parquet's split block filter; Arrow rounds it up to a power of two."""
    exact: float = -8.0 * values / _log1m(odds)
    return float(2 ** (max(int(exact) - 1, 1).bit_length()))


def _log1m(odds: float) -> float:
    from math import log

    return log(1 - odds ** (1 / 8))


def _is_flag(leaf: Leaf) -> bool:
    from pyiceberg.types import BooleanType

    return isinstance(leaf.type, BooleanType)
