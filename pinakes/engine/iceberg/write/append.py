"""Rows added to a table: streamed into new files, one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
from pyiceberg.manifest import DataFile
from pyiceberg.table import Transaction

from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.producers import Append


def append(
    table: IcebergTable,
    found: Found,
    rows: Iterable[pa.RecordBatch],
    check: Callable[[], None],
    *,
    ordered: bool = False,
) -> int:
    """The number of rows added; `check` raises when the statement was stopped, before anything is visible."""
    with FileWriter(table.handle.metadata, table.handle.io, ordered=ordered) as writer:
        writer.write_all(rows)
        check()
        if writer.files:
            transaction = begin(table)
            hold_schema(transaction)
            append_files(transaction, writer.files)
            commit(transaction, found.place, found.name)
        writer.keep()
    return writer.rows


def append_files(transaction: Transaction, files: Iterable[DataFile]) -> None:
    """Add a snapshot to the transaction that has these files beside those that are there."""
    with Append(transaction) as change:
        for file in files:
            change.append_data_file(file)
