"""Overrides decisions that pyiceberg's catalogs leave to the properties of a table: how its files are read, where new
files are written, and which ones a PURGE deletes.

In pyiceberg a table's properties take precedence over those of its catalog. Anyone who can write a table's metadata
could then choose where the catalog's keys are used (`s3.endpoint`), and which classes read its files and name new ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.table import StagedTable, Table, TableProperties
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties

from pinakes.core.path_sandbox import EVERYWHERE, Roots
from pinakes.providers.purge import TableFiles
from pinakes.providers.table_io import TableIO, location_provider

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.schema import Schema


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
