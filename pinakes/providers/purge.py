"""The files that DROP TABLE … PURGE deletes: those in the table's own locations (`OwnPlaces`)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.utils.properties import property_as_bool

from pinakes.core.errors import DataCorrupt
from pinakes.core.names import dotted
from pinakes.providers.sql_catalog.metadata_files import discard
from pinakes.providers.table_io import OwnPlaces

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table import Table

logger = logging.getLogger(__name__)

GC_ENABLED = "gc.enabled"
"""Iceberg's property: false means that data files may belong to other tables too."""


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The files to delete: data files first, the current metadata last, so that an interrupted deletion can be
    continued.
    """

    paths: tuple[str, ...]

    @classmethod
    def of(cls, table: Table) -> TableFiles:
        """Returns every file that a snapshot or the metadata log of the table refers to. Files in other locations, such
        as those added by add_files, are kept.
        """
        own = OwnPlaces(table.metadata)
        try:
            data, manifests, lists = _snapshot_files(table)
        except OSError as error:
            raise DataCorrupt(
                f"table {dotted(table.name())} is damaged, so its files are unknown: {error}. Drop it without PURGE."
            ) from error
        if not property_as_bool(table.properties, GC_ENABLED, True):
            data = set()
        log = {entry.metadata_file for entry in table.metadata.metadata_log}
        paths = (*data, *manifests, *lists, *log - {table.metadata_location}, table.metadata_location)
        kept = tuple(path for path in paths if own.hold(path))
        if len(kept) < len(paths):
            left = len(paths) - len(kept)
            logger.warning("%d files of table %s are outside of it and stay", left, dotted(table.name()))
        return cls(kept)

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
