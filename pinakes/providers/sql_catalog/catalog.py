"""SqlCatalog: Iceberg's catalog behaviour over any CatalogStore, as a pyiceberg catalog.

Its tables are ordinary pyiceberg tables: `append`, `transaction()` and `create_table_transaction` all end in
`commit_table`. A commit writes the new metadata file first and then updates the row with a compare-and-set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from pyiceberg.catalog import (
    LOCATION,
    WAREHOUSE_LOCATION,
    PropertiesUpdateSummary,
)
from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableResponse, StagedTable, Table, TableProperties
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import AssertCreate, TableRequirement, TableUpdate
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties

from pinakes.core.catalog import TableChange
from pinakes.providers.iceberg.metadata_updates import apply_updates, commit_response
from pinakes.providers.iceberg.own_io import OwnFileIO
from pinakes.providers.iceberg.table_io import location_provider
from pinakes.providers.sql_catalog.metadata_files import read_table_metadata, unique_location
from pinakes.providers.sql_catalog.namespaces import Namespaces
from pinakes.providers.sql_catalog.rows import Rows, pyiceberg_errors, shown
from pinakes.providers.sql_catalog.store import CatalogStore
from pinakes.providers.sql_catalog.views import Views

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.view import View
    from pyiceberg.view.metadata import ViewVersion


class SqlCatalog(OwnFileIO):
    """The catalog. `properties` are pyiceberg's: `warehouse`, and those of its FileIO."""

    def __init__(self, store: CatalogStore, **properties: str) -> None:
        super().__init__(store.catalog_name, **properties)
        self._store = store
        self._rows = Rows(store)
        self._namespaces = Namespaces(store)
        self._views = Views(self._rows, self._new_location, self._load_file_io)

    def close(self) -> None:
        self._store.close()

    # --- tables --------------------------------------------------------------------------------------------------

    def create_table(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        staged = self._create_staged_table(identifier, schema, location, partition_spec, sort_order, properties)
        with self._rows.landing(staged.io, staged.metadata_location):
            self._write_metadata(staged.metadata, staged.io, staged.metadata_location)
            self._rows.insert("TABLE", staged.name(), staged.metadata_location)
        return Table(staged.name(), staged.metadata, staged.metadata_location, staged.io, self)

    def register_table(self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False) -> Table:
        names = self.identifier_to_tuple(identifier)
        table = self._read_table(names, metadata_location)
        if overwrite:
            self._rows.overwrite("TABLE", names, metadata_location)
        else:
            self._rows.insert("TABLE", names, metadata_location)
        return table

    def load_table(self, identifier: str | Identifier) -> Table:
        names = self.identifier_to_tuple(identifier)
        _, location = self._rows.get("TABLE", names)
        return self._read_table(names, location)

    def table_exists(self, identifier: str | Identifier) -> bool:
        """Checks only the row: a table with damaged metadata exists too."""
        try:
            self._rows.get("TABLE", self.identifier_to_tuple(identifier))
        except NoSuchTableError:
            return False
        return True

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        return self._rows.names("TABLE", self.identifier_to_tuple(namespace))

    def drop_table(self, identifier: str | Identifier) -> None:
        """Removes the row only; files stay. See `purge_table`."""
        self._rows.drop("TABLE", self.identifier_to_tuple(identifier))

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:
        self._rows.rename("TABLE", self.identifier_to_tuple(from_identifier), self.identifier_to_tuple(to_identifier))
        return self.load_table(to_identifier)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        current, staged = self._stage(TableChange(table, requirements, updates))
        if current is not None and staged.metadata == current.metadata:
            return commit_response(current.metadata, current.metadata_location)
        with self._rows.landing(staged.io, staged.metadata_location):
            self._write_metadata(staged.metadata, staged.io, staged.metadata_location)
            self._point(current, staged)
        return commit_response(staged.metadata, staged.metadata_location)

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        """Writes the metadata files first, then updates all rows in one transaction of the database."""
        steps = [self._stage(change) for change in changes]
        with ExitStack() as landing:
            for _, staged in steps:
                landing.enter_context(self._rows.landing(staged.io, staged.metadata_location))
                self._write_metadata(staged.metadata, staged.io, staged.metadata_location)
            self._publish(lambda: self._point_all(steps))

    def _publish(self, point: Callable[[], None]) -> None:
        self._store.run_in_transaction(point)

    def _stage(self, change: TableChange) -> tuple[Table | None, StagedTable]:
        """Returns the current table, if it exists, and the table after the change."""
        current = self._current(change.table, change.requirements)
        if current is None:
            names = change.table.name()
            return None, self._update_and_stage_table(None, names, change.requirements, change.updates)
        return current, self._staged(current, change.requirements, change.updates)

    def _point_all(self, steps: Sequence[tuple[Table | None, StagedTable]]) -> None:
        for current, staged in steps:
            self._point(current, staged)

    def _point(self, current: Table | None, staged: StagedTable) -> None:
        if current is None:
            self._rows.insert("TABLE", staged.name(), staged.metadata_location)
        else:
            self._rows.swap("TABLE", staged.name(), current.metadata_location, staged.metadata_location)

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str | Identifier) -> bool:
        return self._namespaces.exists(self.identifier_to_tuple(namespace))

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        with pyiceberg_errors():
            self._namespaces.create(self.identifier_to_tuple(namespace), properties)

    def drop_namespace(self, namespace: str | Identifier) -> None:
        with pyiceberg_errors():
            self._namespaces.drop(self.identifier_to_tuple(namespace))

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        with pyiceberg_errors():
            return self._namespaces.children(self.identifier_to_tuple(namespace))

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        with pyiceberg_errors():
            return self._namespaces.properties(self.identifier_to_tuple(namespace))

    def update_namespace_properties(
        self,
        namespace: str | Identifier,
        removals: Collection[str] | None = None,
        updates: Properties = EMPTY_DICT,
    ) -> PropertiesUpdateSummary:
        with pyiceberg_errors():
            done = self._namespaces.alter(self.identifier_to_tuple(namespace), updates, removals or ())
        return PropertiesUpdateSummary(done.removed, done.updated, done.missing)

    # --- views ---------------------------------------------------------------------------------------------------

    def create_view(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        view_version: ViewVersion,
        location: str | None = None,
        properties: Properties = EMPTY_DICT,
    ) -> View:
        names = self.identifier_to_tuple(identifier)
        return self._views.create(names, self._convert_schema_if_needed(schema), view_version, location, properties)

    def replace_view(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        view_version: ViewVersion,
        properties: Properties = EMPTY_DICT,
    ) -> View:
        """Adds a version to a view and keeps the older ones in its log; the properties are replaced."""
        names = self.identifier_to_tuple(identifier)
        return self._views.replace(names, self._convert_schema_if_needed(schema), view_version, properties)

    def register_view(self, identifier: str | Identifier, metadata_location: str) -> View:
        return self._views.register(self.identifier_to_tuple(identifier), metadata_location)

    def load_view(self, identifier: str | Identifier) -> View:
        return self._views.load(self.identifier_to_tuple(identifier))

    def view_exists(self, identifier: str | Identifier) -> bool:
        return self._views.exists(self.identifier_to_tuple(identifier))

    def list_views(self, namespace: str | Identifier) -> list[Identifier]:
        return self._rows.names("VIEW", self.identifier_to_tuple(namespace))

    def drop_view(self, identifier: str | Identifier) -> None:
        self._rows.drop("VIEW", self.identifier_to_tuple(identifier))

    def rename_view(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> None:
        self._rows.rename("VIEW", self.identifier_to_tuple(from_identifier), self.identifier_to_tuple(to_identifier))

    # --- internals -----------------------------------------------------------------------------------------------

    def _create_staged_table(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> StagedTable:
        """Stages a new table. The base method supports only one namespace level."""
        names = self.identifier_to_tuple(identifier)
        self._rows.check_free(names)
        version = int(properties.get(TableProperties.FORMAT_VERSION, TableProperties.DEFAULT_FORMAT_VERSION))
        table_location = location.rstrip("/") if location else self._new_location(names)
        metadata = new_table_metadata(
            location=table_location,
            schema=self._convert_schema_if_needed(schema, version),  # type: ignore[arg-type]
            partition_spec=partition_spec,
            sort_order=sort_order,
            properties=properties,
        )
        metadata_location = location_provider(table_location, properties).new_table_metadata_file_location()
        io = self._load_file_io(properties, metadata_location)
        return StagedTable(names, metadata, metadata_location, io, self)

    def _staged(
        self, current: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> StagedTable:
        """Returns a table after a commit; the base method copies all metadata."""
        for requirement in requirements:
            requirement.validate(current.metadata)
        metadata = apply_updates(current.metadata, updates, current.metadata_location)
        version = self._parse_metadata_version(current.metadata_location) + 1
        location = location_provider(metadata.location, metadata.properties).new_table_metadata_file_location(version)
        return StagedTable(
            current.name(), metadata, location, self._load_file_io(metadata.properties, location), catalog=self
        )

    def _read_table(self, identifier: Identifier, metadata_location: str) -> Table:
        io = self._load_file_io(location=metadata_location)
        metadata = read_table_metadata(io, metadata_location, f"table {shown(identifier)}")
        io = self._load_file_io(metadata.properties, metadata_location)
        return Table(identifier, metadata, metadata_location, io, self)

    def _current(self, table: Table, requirements: tuple[TableRequirement, ...]) -> Table | None:
        """Returns the table that a commit builds on, or None if the commit creates it. Metadata files never change, so
        that of a current table is not read again.
        """
        identifier = table.name()
        creates = any(isinstance(requirement, AssertCreate) for requirement in requirements)
        try:
            _, location = self._rows.get("TABLE", identifier)
        except NoSuchTableError:
            if creates:
                return None
            raise
        if creates:
            raise TableAlreadyExistsError(f"a table named {shown(identifier)} already exists")
        return table if location == table.metadata_location else self._read_table(identifier, location)

    def _new_location(self, identifier: Identifier) -> str:
        *levels, name = identifier
        if base := self.load_namespace_properties(tuple(levels)).get(LOCATION):
            return unique_location(base, name)
        if warehouse := self.properties.get(WAREHOUSE_LOCATION):
            return unique_location(warehouse, *([".".join(levels)] if levels else []), name)
        raise ValueError(
            f"{shown(identifier)} has no location, and neither its namespace nor the catalog has one: "
            f"attach the catalog with the option WAREHOUSE, or say where the table goes"
        )
