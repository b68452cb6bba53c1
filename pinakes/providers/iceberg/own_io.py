"""Overrides decisions that pyiceberg's catalogs leave to the properties of a table: how its files are read, where new
files are written, and which ones a PURGE deletes.

In pyiceberg a table's properties take precedence over those of its catalog. Anyone who can write a table's metadata
could then choose where the catalog's keys are used (`s3.endpoint`), and which classes read its files and name new ones.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.table import StagedTable, Table, TableProperties
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties
from pyiceberg.utils.properties import property_as_bool

from pinakes.core.access.path_sandbox import EVERYWHERE, Roots
from pinakes.core.errors import DataCorrupt
from pinakes.core.names import dotted
from pinakes.providers.iceberg.table_io import OwnPlaces, TableIO, location_provider
from pinakes.providers.sql_catalog.metadata_files import discard

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table


class OwnFileIO(MetastoreCatalog):
    roots: Roots = EVERYWHERE
    """The local directories that files of its tables may be in."""

    def _load_file_io(self, properties: Properties | None = None, location: str | None = None) -> TableIO:
        """Returns our FileIO. The given properties are the table's, and are ignored."""
        return TableIO(self.properties, self.roots)

    def purge_table(self, identifier: str | Identifier) -> None:
        """Collects the table's files before the drop: a damaged table is kept, and must be dropped without PURGE."""
        table = self.load_table(identifier)
        files = TableFiles.of(table)
        self.drop_table(identifier)
        files.delete(table.io)

    def _create_staged_table(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> StagedTable:
        """Does the same as pyiceberg, without the location provider that the properties may name."""
        version: Any = int(properties.get(TableProperties.FORMAT_VERSION, TableProperties.DEFAULT_FORMAT_VERSION))
        names = self.identifier_to_database_and_table(identifier)
        place = self._resolve_table_location(location, *names)
        metadata = new_table_metadata(
            location=place,
            schema=self._convert_schema_if_needed(schema, version),
            partition_spec=partition_spec,
            sort_order=sort_order,
            properties=properties,
        )
        file = location_provider(place, properties).new_table_metadata_file_location()
        return StagedTable(names, metadata, file, self._load_file_io(properties, file), self)

    def _update_and_stage_table(
        self,
        current_table: Table | None,
        table_identifier: Identifier,
        requirements: tuple[TableRequirement, ...],
        updates: tuple[TableUpdate, ...],
    ) -> StagedTable:
        for requirement in requirements:
            requirement.validate(current_table.metadata if current_table else None)
        metadata = update_table_metadata(
            base_metadata=current_table.metadata if current_table else self._empty_table_metadata(),
            updates=updates,
            enforce_validation=current_table is None,
            metadata_location=current_table.metadata_location if current_table else None,
        )
        version = self._parse_metadata_version(current_table.metadata_location) + 1 if current_table else 0
        file = location_provider(metadata.location, metadata.properties).new_table_metadata_file_location(version)
        return StagedTable(table_identifier, metadata, file, self._load_file_io(metadata.properties, file), self)


# --- PURGE -------------------------------------------------------------------------------------------------------


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
