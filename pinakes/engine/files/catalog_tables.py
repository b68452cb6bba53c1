"""Opens tables of a `files` catalog with the same readers as `FROM 'path'`."""

from __future__ import annotations

from pathlib import Path

from pinakes.core.catalog import FilesTable
from pinakes.core.names import dotted
from pinakes.engine.files.opened import Opened
from pinakes.engine.files.paths import Finder
from pinakes.engine.files.tables import opened


def open_table(table: FilesTable, finder: Finder, zone: str) -> Opened:
    """Opens a table for DataFusion; every error names the file."""
    files = [finder.listed(path, _below(table, path)) for path in table.paths]
    partitioned = {"hive_partitioning": True} if any(file.below for file in files) else {}
    what = f"table {dotted((*table.namespace, table.name))}"
    return opened(files, table.format, {**table.options, **partitioned}, zone, what)


def _below(table: FilesTable, path: str) -> tuple[str, ...]:
    """Returns the directories between the table and the file, whose names may be columns."""
    return Path(path).relative_to(table.directory).parts[:-1] if table.directory else ()
