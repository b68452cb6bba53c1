"""Rows added to a table: streamed into new files, one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.engine.places import Found
from pinakes.engine.write.commit import commit, hold_schema
from pinakes.engine.write.files import FileWriter


def append(table: IcebergTable, found: Found, rows: Iterable[pa.RecordBatch], check: Callable[[], None]) -> int:
    """The number of rows added; `check` raises when the statement was stopped, before anything is visible."""
    with FileWriter(table.handle.metadata, table.handle.io) as writer:
        writer.write_all(rows)
        check()
        if writer.files:
            transaction = table.handle.transaction()
            hold_schema(transaction)
            with transaction.update_snapshot().fast_append() as append:
                for file in writer.files:
                    append.append_data_file(file)
            commit(transaction, found.place, found.name)
        writer.keep()
    return writer.rows
