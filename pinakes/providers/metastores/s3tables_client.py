"""A pyiceberg catalog over the control plane of S3 Tables: boto3's client `s3tables`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError
from pyiceberg.catalog import PropertiesUpdateSummary
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table import CommitTableResponse, CreateTableTransaction, StagedTable, Table
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import AssertCreate, TableRequirement, TableUpdate
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties

from pinakes.core.errors import NotSupportedError
from pinakes.providers.iceberg.views import NoViews
from pinakes.providers.metastores.client import Metastore

if TYPE_CHECKING:
    pass

logger = logging.getLogger(__name__)


class _Creation(CreateTableTransaction):
    """The creation of a table whose name is already reserved; a caller that does not finish it calls `abandon`."""

    def __init__(self, staged: StagedTable, abandon: Callable[[], None]) -> None:
        super().__init__(staged)
        self.abandon = abandon


class S3TablesClientCatalog(NoViews, Metastore):
    """One table bucket. A commit is one conditional update of a table's metadata location."""

    def __init__(self, name: str, client: Any, arn: str, properties: Mapping[str, str]) -> None:
        super().__init__(name, **properties)
        self._client = client
        self._bucket = {"tableBucketARN": arn}

    # --- namespaces ----------------------------------------------------------------------------------------------

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        pages = self._client.get_paginator("list_namespaces").paginate(**self._bucket)
        return [tuple(found["namespace"]) for page in pages for found in page["namespaces"]]

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        with self._missing(NoSuchNamespaceError, taken=NamespaceAlreadyExistsError):
            self._client.create_namespace(**self._bucket, namespace=[self.identifier_to_database(namespace)])

    def drop_namespace(self, namespace: str | Identifier) -> None:
        with self._missing(NoSuchNamespaceError, taken=NamespaceNotEmptyError):
            self._client.delete_namespace(**self._bucket, namespace=self.identifier_to_database(namespace))

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        with self._missing(NoSuchNamespaceError):
            self._client.get_namespace(**self._bucket, namespace=self.identifier_to_database(namespace))
        return {}

    def update_namespace_properties(
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        raise NotSupportedError("namespaces of S3 Tables have neither properties nor comments")

    # --- tables --------------------------------------------------------------------------------------------------

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        database = self.identifier_to_database(namespace, NoSuchNamespaceError)
        with self._missing(NoSuchNamespaceError):
            pages = self._client.get_paginator("list_tables").paginate(**self._bucket, namespace=database)
            return [(database, found["name"]) for page in pages for found in page["tables"]]

    def load_table(self, identifier: str | Identifier) -> Table:
        return self._read(self.identifier_to_tuple(identifier), self._get(identifier))

    def create_table(
        self,
        identifier: str | Identifier,
        schema: Any,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        begun = self.create_table_transaction(identifier, schema, location, partition_spec, sort_order, properties)
        try:
            return begun.commit_transaction()
        except CommitStateUnknownException:
            raise
        except BaseException:
            begun.abandon()
            raise

    def create_table_transaction(
        self,
        identifier: str | Identifier,
        schema: Any,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> _Creation:
        """Reserves the name, so that the service assigns a location; without a commit it is released."""
        if location is not None:
            raise NotSupportedError("S3 Tables chooses where a table is: leave the location out")
        name = self.identifier_to_tuple(identifier)
        with self._missing(NoSuchNamespaceError, taken=TableAlreadyExistsError):
            self._client.create_table(**self._bucket, namespace=name[0], name=name[-1], format="ICEBERG")
        try:
            place = self._get(identifier)["warehouseLocation"]
            staged = self._create_staged_table(identifier, schema, place, partition_spec, sort_order, properties)
        except BaseException:
            self._give_back(name)
            raise
        return _Creation(staged, lambda: self._give_back(name))

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        name = table.name()
        found = self._get(name)
        creates = any(isinstance(requirement, AssertCreate) for requirement in requirements)
        if creates and "metadataLocation" in found:
            raise TableAlreadyExistsError(f"Table already exists: {name}")
        current = None if creates else self._read(name, found)
        staged = self._update_and_stage_table(current, name, requirements, updates)
        if current is not None and staged.metadata == current.metadata:
            return _answer(current)
        # Its existence can't be checked, since table buckets do not support listing. The file name is unique anyway.
        ToOutputFile.table_metadata(staged.metadata, staged.io.new_output(staged.metadata_location), overwrite=True)
        self._swap(name, found["versionToken"], staged)
        return _answer(staged)

    def drop_table(self, identifier: str | Identifier) -> None:
        database, table = self.identifier_to_database_and_table(identifier, NoSuchTableError)
        with self._missing(NoSuchTableError):
            self._client.get_table(**self._bucket, namespace=database, name=table)
            self._client.delete_table(**self._bucket, namespace=database, name=table)

    def purge_table(self, identifier: str | Identifier) -> None:
        """Drops the table: the service removes the files of a dropped table itself."""
        self.drop_table(identifier)

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:
        source, target = self.identifier_to_tuple(from_identifier), self.identifier_to_tuple(to_identifier)
        self._get(source)
        self._check_free(target)
        with self._missing(NoSuchNamespaceError, taken=TableAlreadyExistsError):
            self._client.rename_table(
                **self._bucket, namespace=source[0], name=source[1], newNamespaceName=target[0], newName=target[1]
            )
        return self.load_table(target)

    def register_table(self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False) -> Table:
        raise NotSupportedError("S3 Tables chooses where a table is: files at other locations can't be registered")

    def close(self) -> None:
        self._client.close()

    # --- internals -----------------------------------------------------------------------------------------------

    def _get(self, identifier: str | Identifier) -> dict[str, Any]:
        database, table = self.identifier_to_database_and_table(identifier, NoSuchTableError)
        with self._missing(NoSuchTableError):
            found: dict[str, Any] = self._client.get_table(**self._bucket, namespace=database, name=table)
        return found

    def _read(self, name: Identifier, found: dict[str, Any]) -> Table:
        location = found.get("metadataLocation")
        if location is None:
            raise NoSuchTableError(f"{name} is being made: nothing was committed yet")
        io = self._load_file_io(location=location)
        return Table(name, FromInputFile.table_metadata(io.new_input(location)), location, io, self)

    def _swap(self, name: Identifier, token: str, staged: StagedTable) -> None:
        """Updates the metadata location. A request that boto3 retries after a lost response conflicts with its own
        effect, which is a success.
        """
        try:
            with self._missing(NoSuchTableError, taken=CommitFailedException):
                self._client.update_table_metadata_location(
                    **self._bucket,
                    namespace=name[0],
                    name=name[1],
                    versionToken=token,
                    metadataLocation=staged.metadata_location,
                )
        except EndpointConnectionError:
            raise  # not connected: nothing was sent
        except (CommitFailedException, BotoCoreError) as error:
            if self._metadata_location(name, error) == staged.metadata_location:
                return
            if isinstance(error, CommitFailedException):
                raise
            raise CommitStateUnknownException("S3 Tables did not answer in time") from error

    def _metadata_location(self, name: Identifier, error: Exception) -> str | None:
        try:
            return self._get(name).get("metadataLocation")
        except NoSuchTableError:
            return None
        except BotoCoreError:
            raise CommitStateUnknownException("S3 Tables did not answer in time") from error

    def _give_back(self, name: Identifier) -> None:
        """Releases a name under which nothing was committed."""
        try:
            if "metadataLocation" not in self._get(name):
                self.drop_table(name)
        except NoSuchTableError:
            return
        except (BotoCoreError, ClientError) as error:
            logger.warning("table %s was begun and not finished, and its name could not be freed: %s", name, error)

    @contextmanager
    def _missing(self, missing: type[Exception], taken: type[Exception] | None = None) -> Iterator[None]:
        """Translates the service's errors of one request to pyiceberg's."""
        try:
            yield
        except self._client.exceptions.NotFoundException as error:
            raise missing(str(error)) from error
        except self._client.exceptions.ConflictException as error:
            raise (taken or CommitFailedException)(str(error)) from error


def _answer(table: Table) -> CommitTableResponse:
    return CommitTableResponse.model_validate(
        {"metadata": table.metadata, "metadata-location": table.metadata_location}
    )
