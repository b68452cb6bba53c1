"""All files of a table, for DROP TABLE … PURGE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.utils.properties import property_as_bool

from pinakes.core.errors import DataCorrupt
from pinakes.core.names import dotted
from pinakes.providers.sql_catalog.metadata_files import discard

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table import Table

GC_ENABLED = "gc.enabled"
"""Iceberg's property: false says that data files may belong to other tables too."""


@dataclass(frozen=True, slots=True)
class TableFiles:
    """Data files first, the current metadata last: what a broken-off deletion leaves can still be found."""

    paths: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> TableFiles:
        """Every file that some snapshot or the metadata log of the table names."""
        try:
            data, manifests, lists = _snapshot_files(table)
        except OSError as error:
            raise DataCorrupt(
                f"table {dotted(table.name())} is damaged, so its files can't be told: {error}. Drop it without PURGE."
            ) from error
        if not property_as_bool(table.properties, GC_ENABLED, True):
            data = set()
        log = {entry.metadata_file for entry in table.metadata.metadata_log}
        return cls((*data, *manifests, *lists, *log - {table.metadata_location}, table.metadata_location))

    def delete(self, io: FileIO) -> None:
        for path in self.paths:
            discard(io, path)


def _snapshot_files(table: Table) -> tuple[set[str], set[str], set[str]]:
    manifests: dict[str, ManifestFile] = {}
    lists: set[str] = set()
    for snapshot in table.snapshots():
        manifests |= {manifest.manifest_path: manifest for manifest in snapshot.manifests(table.io)}
        lists.add(snapshot.manifest_list)
    entries = (entry for m in manifests.values() for entry in m.fetch_manifest_entry(table.io, discard_deleted=False))
    return {entry.data_file.file_path for entry in entries}, set(manifests), lists
