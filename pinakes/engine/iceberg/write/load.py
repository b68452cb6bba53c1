"""Appends rows of files to a table and records the files as loaded, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
from pyiceberg.table import Transaction

from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.iceberg.write.append import append_files
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema, hold_snapshot
from pinakes.engine.iceberg.write.files import FileWriter


def load(
    table: IcebergTable,
    found: ResolvedTable,
    rows: Iterable[pa.RecordBatch],
    check: Callable[[], None],
    remember: Callable[[Transaction], None],
) -> int:
    """Appends the rows and returns their number.

    The commit conflicts with any concurrent commit, which may have loaded the same files.
    """
    with FileWriter(table.handle.metadata, table.handle.io) as writer:
        writer.write_all(rows)
        check()
        transaction = begin(table)
        hold_schema(transaction)
        hold_snapshot(transaction)
        remember(transaction)
        if writer.files:
            append_files(transaction, writer.files)
        commit(transaction, found.place, found.name)
        writer.keep()
    return writer.rows
