"""Appends rows to a table: streams them into new files and commits once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import pyarrow as pa
from pyiceberg.manifest import DataFile
from pyiceberg.table import Transaction

from pinakes.core.catalog import IcebergTable
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.producers import Append


def append(
    table: IcebergTable,
    found: ResolvedTable,
    rows: Iterable[pa.RecordBatch],
    check: Callable[[], None],
    *,
    ordered: bool = False,
) -> int:
    """Appends rows and returns their number; `check` raises if the statement was cancelled before the commit."""
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


def append_files(
    transaction: Transaction, files: Iterable[DataFile], properties: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Adds a snapshot with these additional files, and with properties in its summary, to the transaction."""
    with Append(transaction) as change:
        change.snapshot_properties = {**change.snapshot_properties, **properties}
        for file in files:
            change.append_data_file(file)
