"""pyiceberg's REST catalog over our connection.

Differences: the server's config can't select code to run, headers or another host to send the credentials to; a table's
own properties do not control how its files are read; a level or name that a path would drop ('..', '') is refused; a
commit without a response has an unknown outcome.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote, unquote

from pydantic import Field, ValidationError
from pyiceberg.catalog import Catalog as PyIcebergCatalog
from pyiceberg.catalog.rest import (
    DEFAULT_ENDPOINTS,
    DEFAULT_NAMESPACE_SEPARATOR,
    NAMESPACE_SEPARATOR_PROPERTY,
    VIEW_ENDPOINTS,
    VIEW_ENDPOINTS_SUPPORTED,
    Capability,
    ConfigResponse,
    Endpoint,
    Endpoints,
    ListNamespaceResponse,
    ListTablesResponse,
    ListViewsResponse,
    RestCatalog,
    TableResponse,
)
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest, CommitTableResponse, StagedTable, Table, TableIdentifier
from pyiceberg.table.update import AssertCreate
from pyiceberg.typedef import UTF8
from requests import HTTPError, Response

from pinakes.core.access.path_sandbox import EVERYWHERE, Roots
from pinakes.core.access.property_gate import FROM_SERVERS, OF_REST_CATALOGS, allowed
from pinakes.core.catalog import TableChange
from pinakes.core.errors import CatalogUnavailable, InvalidArgument, NotSupportedError
from pinakes.core.location import Location
from pinakes.core.names import dotted
from pinakes.core.version import __version__
from pinakes.providers.iceberg.pyiceberg_gate import check_history
from pinakes.providers.iceberg.table_io import TableIO
from pinakes.providers.rest.http import RestSession, origin, said
from pinakes.providers.rest.landed import check_landed
from pinakes.providers.rest.views import RestViews

if TYPE_CHECKING:
    from pyiceberg.table.update import TableRequirement, TableUpdate
    from pyiceberg.typedef import Identifier, Properties

_CREATE_VIEW = Endpoint.from_string("POST /v1/{prefix}/namespaces/{namespace}/views")
_COMMIT_TRANSACTION = Endpoint.from_string("POST /v1/{prefix}/transactions/commit")
_MOST_PAGES = 10_000
_KEYS = ("s3.access-key-id", "s3.secret-access-key", "s3.session-token")


class _Page(Protocol):
    @property
    def next_page_token(self) -> str | None: ...

    @classmethod
    def model_validate_json(cls, json_data: str) -> Any: ...


P = TypeVar("P", bound=_Page)


class _LoadTableResult(TableResponse):
    read_restrictions: Any = Field(alias="read-restrictions", default=None)


def _is_empty(restrictions: Any) -> bool:
    """Whether they restrict nothing. A row filter that is `false` lets no row through."""
    if isinstance(restrictions, dict):
        return all(value is None or value == [] for value in restrictions.values())
    return restrictions is None


class RestClient(RestViews, RestCatalog):
    """The client. `properties` are the catalog's; `storage` are the storage properties used if the server vends no
    keys, and `chosen` those that override the server's. `limit` applies the user's privileges to storage properties.
    """

    roots: Roots = EVERYWHERE
    """The local directories that files of its tables may be in."""

    def __init__(
        self,
        name: str,
        session: RestSession,
        properties: Mapping[str, str],
        storage: Mapping[str, str],
        chosen: Mapping[str, str],
        limit: Callable[[Mapping[str, str]], dict[str, str]] = dict,
    ) -> None:
        PyIcebergCatalog.__init__(self, name, **properties)
        self._auth_manager = None
        self.uri = properties["uri"]
        self._session: RestSession = session
        self._storage = dict(storage)
        self._chosen = dict(chosen)
        self._limit = limit
        session.headers["Content-type"] = "application/json"
        session.headers["User-Agent"] = f"Pinakes/{__version__}"
        self._fetch_config()

    @property
    def has_views(self) -> bool:
        return {Capability.V1_LIST_VIEWS, Capability.V1_LOAD_VIEW, _CREATE_VIEW} <= self._supported_endpoints

    @property
    def has_transactions(self) -> bool:
        return _COMMIT_TRANSACTION in self._supported_endpoints

    def supports_server_side_planning(self) -> bool:
        return False

    # --- configuration -------------------------------------------------------------------------------------------

    def _create_session(self) -> RestSession:
        return self._session

    def _fetch_config(self) -> None:
        warehouse = self.properties.get("warehouse")
        response = self._session.get(
            self.url(Endpoints.get_config, prefixed=False), params={"warehouse": warehouse} if warehouse else {}
        )
        config = self._read_config(response)
        theirs = [allowed(said, FROM_SERVERS, OF_REST_CATALOGS) for said in (config.defaults, config.overrides)]
        self.properties = {**theirs[0], **self.properties, **theirs[1]}
        if origin(self.properties["uri"]) == origin(self.uri):
            self.uri = self.properties["uri"]  # the credentials are not sent to another host
        self._supported_endpoints = set(config.endpoints or DEFAULT_ENDPOINTS)
        if not config.endpoints and self.properties.get(VIEW_ENDPOINTS_SUPPORTED, "").lower() == "true":
            self._supported_endpoints |= VIEW_ENDPOINTS | {_CREATE_VIEW}
        separator = self.properties.get(NAMESPACE_SEPARATOR_PROPERTY) or DEFAULT_NAMESPACE_SEPARATOR
        self._namespace_separator = unquote(separator)

    def _read_config(self, response: Response) -> ConfigResponse:
        try:
            response.raise_for_status()
        except HTTPError as error:
            if response.status_code not in (400, 404, 405, 501):
                _handle_non_200_response(error, {})
            raise CatalogUnavailable(self._no_catalog(f"HTTP {response.status_code} ({said(response)})")) from error
        try:
            return ConfigResponse.model_validate_json(response.text)
        except ValidationError as error:
            raise CatalogUnavailable(self._no_catalog("something else than its configuration")) from error

    def _no_catalog(self, answer: str) -> str:
        warehouse = self.properties.get("warehouse")
        parameters = f" about the warehouse {warehouse!r}" if warehouse else ""
        return (
            f"no Iceberg REST catalog answers at {self.uri}: to a request for its configuration{parameters}, "
            f"{self._session.place} answered with {answer}. Check location and WAREHOUSE: a location often ends in "
            f"/iceberg or /api/catalog."
        )

    # --- names in paths ------------------------------------------------------------------------------------------

    def _encode_namespace_path(self, namespace: Identifier) -> str:
        for level in namespace:
            _check_part(level, "namespace level")
            if self._namespace_separator in level:
                raise InvalidArgument(
                    f"namespace level {level!r} has {self._namespace_separator!r} in it, which this catalog separates "
                    f"levels by"
                )
        return self._namespace_separator.join(quote(part, safe="") for part in namespace)

    def _split_identifier_for_path(self, identifier: Any, *kind: Any) -> Properties:
        _check_part(identifier.name if isinstance(identifier, TableIdentifier) else identifier[-1], "name")
        return super()._split_identifier_for_path(identifier, *kind)

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        parent = self.identifier_to_tuple(namespace)
        self._encode_namespace_path(parent)  # raises for invalid levels
        parameters = {"parent": self._namespace_separator.join(parent)} if parent else {}
        pages = self._pages(self.url(Endpoints.list_namespaces), ListNamespaceResponse, parameters)
        return [found for page in pages for found in page.namespaces]

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        self._check_endpoint(Capability.V1_LIST_TABLES)
        pages = self._pages(self._url_within(Endpoints.list_tables, namespace), ListTablesResponse)
        return [(*found.namespace, found.name) for page in pages for found in page.identifiers]

    def list_views(self, namespace: str | Identifier) -> list[Identifier]:
        if Capability.V1_LIST_VIEWS not in self._supported_endpoints:
            return []
        pages = self._pages(self._url_within(Endpoints.list_views, namespace), ListViewsResponse)
        return [(*found.namespace, found.name) for page in pages for found in page.identifiers]

    def _url_within(self, endpoint: str, namespace: str | Identifier) -> str:
        levels = self._check_valid_namespace_identifier(namespace)
        return self.url(endpoint, namespace=self._encode_namespace_path(levels))

    def _pages(self, url: str, kind: type[P], parameters: Mapping[str, str] = MappingProxyType({})) -> Iterator[P]:
        """Yields the pages of a listing; raises CatalogUnavailable if they do not end."""
        params, seen = dict(parameters), set[str]()
        while True:
            response = self._session.get(url, params=params)
            try:
                response.raise_for_status()
            except HTTPError as error:
                _handle_non_200_response(error, {404: NoSuchNamespaceError})
            page = kind.model_validate_json(response.text)
            yield page
            if not page.next_page_token:
                return
            if page.next_page_token in seen or len(seen) == _MOST_PAGES:
                raise CatalogUnavailable(f"{self._session.place} sends the pages of a listing without an end")
            seen.add(page.next_page_token)
            params["pageToken"] = page.next_page_token

    # --- tables --------------------------------------------------------------------------------------------------

    def load_table(self, identifier: str | Identifier) -> Table:
        """Loads a table as pyiceberg does, and refuses one with read restrictions, which pyiceberg ignores."""
        self._check_endpoint(Capability.V1_LOAD_TABLE)
        url = self.url(Endpoints.load_table, prefixed=True, **self._split_identifier_for_path(identifier))
        response = self._session.get(url)
        try:
            response.raise_for_status()
        except HTTPError as error:
            _handle_non_200_response(error, {404: NoSuchTableError})
        answer, name = _LoadTableResult.model_validate_json(response.text), self.identifier_to_tuple(identifier)
        if not _is_empty(answer.read_restrictions):
            raise NotSupportedError(
                f"table {dotted(name)} can't be read: its catalog restricts which rows and columns are read "
                f"(read-restrictions), and Pinakes does not enforce that yet. Read it with an engine that does, or ask "
                f"for a login that is not restricted."
            )
        return self._response_to_table(name, answer)

    def _create_table(self, identifier: str | Identifier, *args: Any, **kwargs: Any) -> TableResponse:
        """Checks the names if no location is given, since the server then derives the location from them; see
        `check_location`.
        """
        if kwargs.get("location") is None:
            for part in self.identifier_to_tuple(identifier):
                check_location(part)
        return super()._create_table(identifier, *args, **kwargs)

    def _response_to_table(self, identifier_tuple: tuple[str, ...], table_response: TableResponse) -> Table:
        return Table(
            identifier_tuple,
            table_response.metadata,
            table_response.metadata_location or "",
            self._io_of(table_response),
            self,
            allowed(table_response.config, FROM_SERVERS),
        )

    def _response_to_staged_table(
        self, identifier_tuple: tuple[str, ...], table_response: TableResponse
    ) -> StagedTable:
        return StagedTable(
            identifier=identifier_tuple,
            metadata=table_response.metadata,
            metadata_location=table_response.metadata_location or "",
            io=self._io_of(table_response),
            catalog=self,
        )

    def _io_of(self, response: TableResponse) -> TableIO:
        """Returns access to a table's files: with the vended credentials, else with those that ATTACH named."""
        location = response.metadata_location or response.metadata.location
        check_location(location)
        for place in {location, response.metadata.location}:
            Location.parse(place)
        check_history(response.metadata)
        credentials = self._resolve_storage_credentials(response.storage_credentials, location)
        lent = {**allowed(response.config, FROM_SERVERS), **allowed(credentials, FROM_SERVERS)}
        own = {**self.properties, **self._storage}
        if any(key in lent for key in _KEYS):
            own = {key: value for key, value in own.items() if key not in _KEYS}
            scope = self.roots.stores and "s3://"  # the SCOPE belongs to other keys
            roots = Roots(self.roots.directories, scope, self.roots.reader)
        else:
            roots = self.roots
        return TableIO(self._limit({**own, **lent, **self._chosen}), roots)

    def _load_file_io(self, properties: Properties | None = None, location: str | None = None) -> TableIO:
        return TableIO(self._limit({**self.properties, **self._storage, **self._chosen}), self.roots)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        identifier = TableIdentifier.model_validate({"namespace": table.name()[:-1], "name": table.name()[-1]})
        request = CommitTableRequest(identifier=identifier, requirements=requirements, updates=updates)
        url = self.url(Endpoints.update_table, prefixed=True, **self._split_identifier_for_path(identifier))
        body = json.dumps(_content_of(request, table)).encode(UTF8)
        response = self._session.commit(url, body, {})
        try:
            response.raise_for_status()
        except HTTPError as error:
            creates = any(isinstance(requirement, AssertCreate) for requirement in requirements)
            conflict = TableAlreadyExistsError if creates else CommitFailedException
            _handle_non_200_response(error, {404: NoSuchTableError, 409: conflict})
        try:
            return CommitTableResponse.model_validate_json(response.text)
        except ValidationError as error:  # the commit may have happened
            raise CommitStateUnknownException(f"{self._session.place} answered with something strange") from error

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        """Commits all changes in one request."""
        body = {"table-changes": [_content_of(self._request(change), change.table) for change in changes]}
        response = self._session.commit(self.url("transactions/commit"), json.dumps(body).encode(UTF8), {})
        try:
            response.raise_for_status()
        except HTTPError as error:
            _handle_non_200_response(error, {404: NoSuchTableError, 409: CommitFailedException})
        check_landed(self, changes)

    def _request(self, change: TableChange) -> CommitTableRequest:
        *namespace, name = change.table.name()
        _check_part(name, "name")
        identifier = TableIdentifier.model_validate({"namespace": namespace, "name": name})
        return CommitTableRequest(identifier=identifier, requirements=change.requirements, updates=change.updates)


def _content_of(request: CommitTableRequest, table: Table) -> dict[str, Any]:
    """Adds the last column id to a new schema: Nessie and older servers require it, and pyiceberg omits it."""
    body: dict[str, Any] = json.loads(request.model_dump_json())
    for update in body["updates"]:
        if update["action"] == "add-schema":
            highest = Schema.model_validate(update["schema"]).highest_field_id
            update["last-column-id"] = max(highest, table.metadata.last_column_id)
    return body


def check_location(location: str) -> None:
    """Refuses '#' and '?': readers and writers of files truncate a location there, so that all files of a table would
    be one.
    """
    if "#" in location or "?" in location:
        raise InvalidArgument(
            f"the files of a table can't be at a place with '#' or '?' in it: {location!r}. Choose another name, or "
            f"WITH (location = '…')."
        )


def _check_part(part: str, what: str) -> None:
    """Refuses parts that would vanish from a path: DROP TABLE ".." would request to drop the namespace."""
    if part in ("", ".", ".."):
        raise InvalidArgument(f"{part!r} can't be a {what} in a REST catalog")
