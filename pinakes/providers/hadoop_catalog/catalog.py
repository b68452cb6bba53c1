"""HadoopCatalog as a pyiceberg catalog: its tables are ordinary pyiceberg tables, which commit through `commit_table`.

As in Java: the first version is 1, a table's location is its directory, tables can't be renamed, dropping one removes
its directory, and there are no views. Object stores are read-only.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pyiceberg.catalog import PropertiesUpdateSummary
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromByteStream, GzipCompressor
from pyiceberg.table import CommitTableResponse, StagedTable, Table, TableProperties
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import AssertCreate, TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.typedef import EMPTY_DICT, UTF8, Identifier, Properties

from pinakes.core.errors import NotSupportedError
from pinakes.core.names import dotted
from pinakes.providers.hadoop_catalog.local import LocalWarehouse, Removed, Taken
from pinakes.providers.hadoop_catalog.tree import WHY_READ_ONLY, Tree
from pinakes.providers.hadoop_catalog.versions import METADATA, Current, check_free, file_of
from pinakes.providers.hadoop_catalog.warehouse import Warehouse
from pinakes.providers.iceberg.metadata_updates import commit_response
from pinakes.providers.iceberg.own_io import OwnFileIO
from pinakes.providers.iceberg.views import NoViews
from pinakes.providers.sql_catalog.metadata_files import read_metadata, read_table_metadata
from pinakes.providers.sql_catalog.rows import pyiceberg_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.io import FileIO


class HadoopCatalog(NoViews, OwnFileIO):
    """The catalog. `properties` are pyiceberg's, for its FileIO."""

    def __init__(self, name: str, warehouse: Warehouse, **properties: str) -> None:
        super().__init__(name, **properties)
        self._warehouse = warehouse
        self._tree = Tree(warehouse)

    def close(self) -> None:
        """Does nothing: there are no resources to release."""

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
        self._publish(staged.name(), staged.metadata, None)
        return self._table(staged.name(), staged.metadata, 1)

    def load_table(self, identifier: str | Identifier) -> Table:
        return self._load(self.identifier_to_tuple(identifier))[0]

    def table_exists(self, identifier: str | Identifier) -> bool:
        return bool(self._tree.versions(self.identifier_to_tuple(identifier)))

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        names = self.identifier_to_tuple(namespace)
        with pyiceberg_errors():
            return [(*names, name) for name in self._tree.tables(names)]

    def drop_table(self, identifier: str | Identifier) -> None:
        """Removes the directory with all its contents: without metadata it would become a namespace."""
        names = self.identifier_to_tuple(identifier)
        if not self.table_exists(names):
            raise _missing(names)
        try:
            self._local.remove_table(*names)
        except Removed as error:
            raise _missing(names) from error

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:
        names = self.identifier_to_tuple(from_identifier)
        if not self.table_exists(names):
            raise _missing(names)
        raise NotImplementedError(
            "a table of a hadoop catalog can't be renamed, since its directory is its name. "
            "CREATE TABLE … AS SELECT makes a copy under another name"
        )

    def register_table(self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False) -> Table:
        raise NotImplementedError("a table of a hadoop catalog is its directory: another can't be registered")

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        names = table.name()
        base = None if any(isinstance(r, AssertCreate) for r in requirements) else self._load(names)
        for requirement in requirements:
            requirement.validate(base[0].metadata if base else None)
        metadata = update_table_metadata(
            base_metadata=base[0].metadata if base else self._empty_table_metadata(),
            updates=updates,
            enforce_validation=base is None,
            metadata_location=base[0].metadata_location if base else None,
        )
        if base and metadata == base[0].metadata:
            return commit_response(base[0].metadata, base[0].metadata_location)
        _check_places(metadata, base[0].metadata if base else None, self._warehouse.location(*names))
        version = base[1].version + 1 if base else 1
        self._publish(names, metadata, base[1] if base else None)
        made = self._table(names, metadata, version)
        return commit_response(made.metadata, made.metadata_location)

    # --- namespaces ----------------------------------------------------------------------------------------------

    def namespace_exists(self, namespace: str | Identifier) -> bool:
        return self._tree.exists(self.identifier_to_tuple(namespace))

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        with pyiceberg_errors():
            self._tree.create(self.identifier_to_tuple(namespace), properties)

    def drop_namespace(self, namespace: str | Identifier) -> None:
        with pyiceberg_errors():
            self._tree.drop(self.identifier_to_tuple(namespace))

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        with pyiceberg_errors():
            return list(self._tree.children(self.identifier_to_tuple(namespace)))

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        names = self.identifier_to_tuple(namespace)
        with pyiceberg_errors():
            self._tree.require(names)
        return {"location": self._warehouse.location(*names)}

    def update_namespace_properties(
        self, namespace: str | Identifier, removals: Collection[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        raise NotImplementedError("a hadoop catalog keeps no properties of namespaces, which are plain directories")

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
        names = self.identifier_to_tuple(identifier)
        if self.table_exists(names):
            raise _taken(names)
        with pyiceberg_errors():
            self._tree.check_table_name(names)
        place = self._warehouse.location(*names)
        if location is not None and location.rstrip("/") not in (place, f"file://{place}"):
            raise ValueError(
                f"a table of a hadoop catalog stands in its own directory, {place}: leave out the location"
            )
        version = int(properties.get(TableProperties.FORMAT_VERSION, TableProperties.DEFAULT_FORMAT_VERSION))
        metadata = new_table_metadata(
            location=place,
            schema=self._convert_schema_if_needed(schema, version),  # type: ignore[arg-type]
            partition_spec=partition_spec,
            sort_order=sort_order,
            properties=properties,
        )
        _check_places(metadata, None, place)
        self._local  # noqa: B018 - raises where nothing can be changed
        return StagedTable(names, metadata, f"{place}/{METADATA}/{file_of(1)}", self._io(metadata, place), self)

    def _load(self, names: Identifier) -> tuple[Table, Current]:
        found = self._tree.current(names)
        if found is None:
            raise _missing(names)
        location = self._warehouse.location(*names, METADATA, found.file)
        metadata = _read(self._load_file_io(location=location), location, f"table {dotted(names)}")
        return Table(names, metadata, location, self._io(metadata, location), self), found

    def _table(self, names: Identifier, metadata: TableMetadata, version: int) -> Table:
        location = self._warehouse.location(*names, METADATA, file_of(version))
        return Table(names, metadata, location, self._io(metadata, location), self)

    def _io(self, metadata: TableMetadata, location: str) -> FileIO:
        return self._load_file_io(metadata.properties, location)

    def _publish(self, names: Identifier, metadata: TableMetadata, base: Current | None) -> None:
        """Writes the version after `base`, or the first one. Fails if another writer has written it."""
        version = 1 if base is None else base.version + 1
        content = metadata.model_dump_json(exclude_none=True).encode(UTF8)
        if base is None:
            self._local.make(*names, METADATA)
        try:
            with self._local.opened(*names) as directory:
                if not check_free(self._tree.versions(names), version, f"table {dotted(names)}"):
                    raise Taken
                self._local.publish(directory, version, content, *names)
        except Removed as error:
            raise _missing(names) from error
        except Taken as error:
            if base is None:
                raise _taken(names) from error
            raise CommitFailedException(f"version {version} of table {dotted(names)} was written meanwhile") from error

    @property
    def _local(self) -> LocalWarehouse:
        if not isinstance(self._warehouse, LocalWarehouse):
            raise NotSupportedError(f"this catalog can only be read: {WHY_READ_ONLY}")
        return self._warehouse


def _read(io: FileIO, location: str, what: str) -> TableMetadata:
    if not location.endswith(".metadata.json.gz"):
        return read_table_metadata(io, location, what)

    def unpacked() -> TableMetadata:  # the old extension, which pyiceberg does not support
        with io.new_input(location).open() as stream:
            return FromByteStream.table_metadata(stream, compression=GzipCompressor())

    return read_metadata(location, what, unpacked)


def _check_places(metadata: TableMetadata, base: TableMetadata | None, place: str) -> None:
    """Raises if the table or its metadata would be outside its directory, as in Java."""
    if metadata.location != (base.location if base is not None else place):
        raise ValueError(f"a table of a hadoop catalog can't be moved out of its directory, {place}")
    if TableProperties.WRITE_METADATA_PATH in metadata.properties:
        raise ValueError(
            f"{TableProperties.WRITE_METADATA_PATH} can't be set: metadata stands in the table's directory"
        )


def _missing(names: Identifier) -> NoSuchTableError:
    return NoSuchTableError(f"table {dotted(names)} does not exist")


def _taken(names: Identifier) -> TableAlreadyExistsError:
    return TableAlreadyExistsError(f"a table named {dotted(names)} already exists")
