"""Adds existing files to a table in one commit; a file that the table already has is an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.table.update import SetPropertiesUpdate

from pinakes.core.errors import InvalidArgument
from pinakes.core.location import Location
from pinakes.engine.iceberg.maintenance.foreign import Foreign
from pinakes.engine.iceberg.maintenance.reachable import plain
from pinakes.engine.iceberg.scan.snapshot import files_of
from pinakes.engine.iceberg.scan.widths import UNKNOWN_ROWS
from pinakes.engine.iceberg.write.append import append_files
from pinakes.engine.iceberg.write.checks import refuse_checked
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema, hold_snapshot
from pinakes.providers.iceberg.table_io import TableIO

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Transaction

    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.files.paths import File
    from pinakes.engine.statement_context import Execution


@dataclass(frozen=True, slots=True)
class Adopted:
    files: int
    partitions: int


def adopt(execution: Execution, found: ResolvedTable, table: IcebergTable, files: Sequence[File]) -> Adopted:
    """Adds the files. The commit conflicts with any concurrent commit, which may have added the same files."""
    refuse_checked(table.handle.properties, "a procedure that adds files without reading them")
    _check_new(execution, found, table, files)
    transaction = begin(table)
    hold_schema(transaction)
    hold_snapshot(transaction)
    done = add_to(transaction, files, table.handle.io, execution)
    commit(transaction, found.place, found.name)
    return done


def add_to(transaction: Transaction, files: Sequence[File], io: FileIO, execution: Execution) -> Adopted:
    """Adds the files to the transaction."""
    foreign = Foreign(transaction.table_metadata)
    added: list[DataFile] = []
    for file in files:
        execution.query.check()
        added.append(foreign.data_file(file))
        location = Location.parse(added[-1].file_path)
        if isinstance(io, TableIO):
            io.check(location)
    if foreign.properties:
        transaction._apply((SetPropertiesUpdate(updates=foreign.properties),))
    append_files(transaction, added, {UNKNOWN_ROWS: "true"})
    return Adopted(len(added), len({repr(file.partition) for file in added}))


def _check_new(execution: Execution, found: ResolvedTable, table: IcebergTable, files: Sequence[File]) -> None:
    known = {plain(path) for path in files_of(table, execution.session.manifests).paths}
    duplicates = [file for file in files if plain(str(file.local) if file.is_local else file.path) in known]
    if duplicates:
        raise InvalidArgument(
            f"{found} has {len(duplicates)} of these {len(files)} files already, among them {duplicates[0]}: their "
            f"rows would be duplicated, and a change could not distinguish them"
        )
