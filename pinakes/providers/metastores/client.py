"""pyiceberg's metastore catalogs (Glue, S3 Tables, Hive), with shared fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyiceberg.exceptions import TableAlreadyExistsError
from pyiceberg.table.update import AssertCreate

from pinakes.providers.iceberg.own_io import OwnFileIO
from pinakes.providers.sql_catalog.metadata_files import unique_location

if TYPE_CHECKING:
    from pyiceberg.table import CommitTableResponse, CreateTableTransaction, Table
    from pyiceberg.table.update import TableRequirement, TableUpdate
    from pyiceberg.typedef import Identifier


class Metastore(OwnFileIO):
    """Refuses to create a table that exists, and ignores storage properties of tables."""

    def create_table(self, identifier: str | Identifier, *args: Any, **kwargs: Any) -> Table:
        self._check_free(identifier)
        made: Table = super().create_table(identifier, *args, **kwargs)  # type: ignore[safe-super]
        return made

    def create_table_transaction(
        self, identifier: str | Identifier, *args: Any, **kwargs: Any
    ) -> CreateTableTransaction:
        self._check_free(identifier)
        return super().create_table_transaction(identifier, *args, **kwargs)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        if any(isinstance(requirement, AssertCreate) for requirement in requirements):
            self._check_free(table.name())
        return super().commit_table(table, requirements, updates)  # type: ignore[safe-super]

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:
        if self.table_exists(from_identifier):
            self._check_free(to_identifier)
        return super().rename_table(from_identifier, to_identifier)  # type: ignore[safe-super]

    def _get_default_warehouse_location(self, database_name: str, table_name: str) -> str:
        """Returns a directory below the database's location, or the warehouse, that no other table had or will have."""
        if location := self.load_namespace_properties((database_name,)).get("location"):
            return unique_location(location, table_name)
        if warehouse := self.properties.get("warehouse"):
            return unique_location(warehouse, f"{database_name}.db", table_name)
        raise ValueError("no place for new tables is known: ATTACH … (WAREHOUSE '…'), or WITH (location = '…')")

    def purge_table(self, identifier: str | Identifier) -> None:
        OwnFileIO.purge_table(self, identifier)  # pyiceberg's would delete every file that the metadata refers to

    def _check_free(self, identifier: str | Identifier) -> None:
        if self.table_exists(identifier):
            raise TableAlreadyExistsError(f"Table already exists: {identifier}")
