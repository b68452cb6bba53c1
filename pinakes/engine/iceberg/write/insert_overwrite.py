"""INSERT OVERWRITE: replaces existing rows in one commit: all rows, the partitions that PARTITION names (static), or
the partitions of the new rows (dynamic).

As in Spark, an empty source deletes the rows in static mode, and changes nothing in dynamic mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

import pyarrow as pa
from pyiceberg.manifest import DataFile
from pyiceberg.table.snapshots import Operation

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import quote
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.iceberg.scan.tasks import plan
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.full_file_delete import fully_deleted_files
from pinakes.engine.iceberg.write.overwrite import Files, overwrite
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Insert

Batches = Iterable[pa.RecordBatch]


def replace_all(
    table: IcebergTable, found: ResolvedTable, rows: Batches, check: Callable[[], None], *, ordered: bool = False
) -> int:
    """Replaces all rows and returns the new row count; `check` raises if the statement was cancelled."""
    with FileWriter(table.handle.metadata, table.handle.io, ordered=ordered) as writer:
        writer.write_all(rows)
        check()
        if writer.files or table.handle.current_snapshot() is not None:
            _commit(table, found, Files(added=writer.files, everything=True))
        writer.keep()
    return writer.rows


def replace_partitions(table: IcebergTable, found: ResolvedTable, rows: Batches, check: Callable[[], None]) -> int:
    """Replaces the partitions of the new rows, and returns the number of rows written."""
    with FileWriter(table.handle.metadata, table.handle.io) as writer:
        writer.write_all(rows)
        check()
        if writer.files:
            touched = {_key(file) for file in writer.files}
            old = _partition_of_files(table, found)
            removed = [file.file_path for file in old if _key(file) in touched]
            _commit(table, found, Files(removed, writer.files, reads=lambda file: _key(file) in touched))
        writer.keep()
    return writer.rows


def replace_where(statement: Insert, execution: Execution, static: Mapping[str, str], rows: Batches) -> int:
    """Replaces the rows with the static values, and returns the number of rows written.

    Files of another partition spec may also hold other rows; those are rewritten.
    """
    change = Rewrite.of(execution, statement, statement.target)
    condition = " AND ".join(_equal(f"{quote(TARGET)}.{quote(c)}", value) for c, value in static.items())
    doomed = f"{change.sql} WHERE {condition}"
    candidates = set(change.wanted(doomed))
    whole = fully_deleted_files(change, candidates, condition)
    change.narrow(candidates - whole)
    counted = _Counted(rows)
    change.apply(change.places(doomed), counted, whole=whole, operation=Operation.OVERWRITE)
    return counted.rows


class _Counted:
    """Counts the rows of a stream of batches."""

    def __init__(self, batches: Batches) -> None:
        self.rows = 0
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.rows += batch.num_rows
            yield batch


def _commit(table: IcebergTable, found: ResolvedTable, files: Files) -> None:
    transaction = begin(table)
    hold_schema(transaction)
    overwrite(transaction, files, Operation.OVERWRITE)
    commit(transaction, found.place, found.name)


def _equal(column: str, value: str) -> str:
    return f"{column} IS NULL" if value == "NULL" else f"{column} = {value}"


def _partition_of_files(table: IcebergTable, found: ResolvedTable) -> list[DataFile]:
    """Returns the current files. Fails for files of another spec: their partitions in the current spec are unknown, and
    leaving them would keep rows that should be replaced.
    """
    files = [task.file for task in plan(table)]
    spec = table.handle.metadata.default_spec_id
    other = [file for file in files if file.spec_id != spec]
    if other:
        raise NotSupportedError(
            f"{found} has {len(other)} files of an older partitioning, of which INSERT OVERWRITE can't tell which "
            f"partitions they are in: say which with PARTITION (…) and partition_overwrite_mode static, or DELETE "
            f"and INSERT"
        )
    return files


def _key(file: DataFile) -> tuple[Any, ...]:
    """Returns the partition of a file as a comparable key."""
    return tuple(_comparable(file.partition[i]) for i in range(len(file.partition)))


def _comparable(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        return "NaN"
    return value.bytes if isinstance(value, UUID) else value
