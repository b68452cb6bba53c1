"""Sorts rows before they are written: by partition, and by the table's sort order.

Rows are spooled to a file and sorted by DataFusion, which spills: any number of rows can be sorted in bounded memory,
and no thread of DataFusion waits for rows of its own query. The keys are columns of that file, since only pyiceberg
implements transforms such as bucket(16, x).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext
from pyarrow import ipc
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import NullOrder, SortDirection

from pinakes.core.arrays.conform import conform
from pinakes.core.types.iceberg_arrow import arrow_schema_of, stored_schema_of
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.files.scratch import Scratch
from pinakes.engine.iceberg.write.parquet.columns import Columns
from pinakes.engine.iceberg.write.partitions import countable, key_column
from pinakes.engine.iceberg.write.sort_order import order_of
from pinakes.engine.iceberg.write.write_context import current

MEMORY = 128 * 1024 * 1024
"""The memory of a sort before it spills."""
IN_MEMORY = 32 * 1024 * 1024
"""The maximum bytes of rows that are sorted without a file."""
_ROWS = "rows"


@dataclass(frozen=True, slots=True)
class _Key:
    column: pa.Array
    order: str


def sorted_rows(batches: Iterable[pa.RecordBatch], metadata: TableMetadata) -> Iterator[pa.RecordBatch]:
    """Yields the rows in stored form, sorted by partition and then by the table's order.

    During the sort they have the types that queries see, which DataFusion supports.
    """
    seen, stored = arrow_schema_of(metadata.schema()), Columns(metadata).stored
    keyed = (_with_keys(conform(b, seen), _keys(_table(b), metadata)) for b in batches)
    few, is_all = _beginning(keyed)
    for batch in _sorted_here(few, metadata) if is_all else _sorted_aside(itertools.chain(few, keyed), metadata):
        yield conform(conform(batch, seen), stored)


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _beginning(batches: Iterator[pa.RecordBatch]) -> tuple[list[pa.RecordBatch], bool]:
    """Returns the batches that fit in memory, and whether these are all."""
    found, size = [], 0
    for batch in batches:
        found.append(batch)
        size += batch.nbytes
        if size > IN_MEMORY:
            return found, False
    return found, True


def _sorted_here(batches: list[pa.RecordBatch], metadata: TableMetadata) -> Iterator[pa.RecordBatch]:
    if not batches:
        return
    context = SessionContext(SessionConfig().with_target_partitions(1))
    context.register_record_batches(_ROWS, [batches])
    yield from _ordered(context, metadata)


def _sorted_aside(batches: Iterator[pa.RecordBatch], metadata: TableMetadata) -> Iterator[pa.RecordBatch]:
    """Sorts rows from a spool file, which is removed at the end or when the consumer stops."""
    scratch = Scratch(current().spill_dir)
    try:
        spool, spill = scratch.path / "rows.arrow", scratch.path / "spill"
        spill.mkdir()
        _spool(batches, spool)
        runtime = RuntimeEnvBuilder().with_fair_spill_pool(MEMORY).with_disk_manager_specified(str(spill))
        # One partition: several concurrent sorts would share the memory, and each would spill earlier.
        context = SessionContext(SessionConfig().with_target_partitions(1), runtime)
        context.register_arrow(_ROWS, str(spool))
        yield from _ordered(context, metadata)
    finally:
        scratch.remove()


def _spool(batches: Iterator[pa.RecordBatch], path: Path) -> None:
    first = next(batches)
    with ipc.new_file(path, first.schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


def _ordered(context: SessionContext, metadata: TableMetadata) -> Iterator[pa.RecordBatch]:
    guard = current().guard
    with translated():
        frame = context.sql(_query(metadata))
        stream = [guard(frame.execute_stream)]
        try:
            while (batch := guard(lambda: next(stream[0], None))) is not None:
                yield batch.to_pyarrow()
        finally:
            stream.clear()  # an error that references this frame must not keep the rows


def _with_keys(batch: pa.RecordBatch, keys: Sequence[_Key]) -> pa.RecordBatch:
    names = [f"c{i}" for i in range(batch.num_columns)] + [f"k{i}" for i in range(len(keys))]
    return pa.RecordBatch.from_arrays([*batch.columns, *(k.column for k in keys)], names=names)


def _keys(table: pa.Table, metadata: TableMetadata) -> list[_Key]:
    schema, order = metadata.schema(), order_of(metadata)
    found = [
        _Key(countable(key_column(table, f.source_id, f.transform, schema)), "ASC NULLS FIRST")
        for f in metadata.spec().fields
    ]
    for field in order.fields if order is not None else ():
        direction = "ASC" if field.direction == SortDirection.ASC else "DESC"
        nulls = "FIRST" if field.null_order == NullOrder.NULLS_FIRST else "LAST"
        column = key_column(table, field.source_id, field.transform, schema)
        found.append(_Key(column, f"{direction} NULLS {nulls}"))
    return found


def _query(metadata: TableMetadata) -> str:
    width = len(metadata.schema().fields)
    empty = pa.Table.from_batches([], stored_schema_of(metadata.schema())).combine_chunks()
    orders = [k.order for k in _keys(empty, metadata)]
    columns = ", ".join(f"c{i}" for i in range(width))
    return f"SELECT {columns} FROM {_ROWS} ORDER BY {', '.join(f'k{i} {order}' for i, order in enumerate(orders))}"
