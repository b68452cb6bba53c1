"""Catalog type `iceberg_rest`: any server with Iceberg's REST protocol.

The location is the server's address, without `/v1`. Opening the catalog requests its configuration, which also says
whether the server has views and transactions; a catalog without them does not offer them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast
from urllib.parse import urlsplit

from pinakes.core.access.outbound import Destination, destination_of
from pinakes.core.catalog import TableChange
from pinakes.core.errors import InvalidArgument
from pinakes.core.secrets import ANONYMOUS, Access, check_region
from pinakes.providers.iceberg.adapter import IcebergCatalog, IcebergViewCatalog, translate_errors
from pinakes.providers.iceberg.storage import limited_storage, storage_properties
from pinakes.providers.options import option, parse_options, with_default_namespace

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue
    from pinakes.providers.rest.client import RestClient
    from pinakes.providers.rest.http import RestSession


@dataclass(frozen=True, slots=True)
class IcebergRestOptions:
    """The options of ATTACH … (TYPE iceberg_rest, …)."""

    warehouse: str | None = option("warehouse of the server", default=None)
    prefix: str | None = option("path prefix, if the server does not provide it", default=None)
    default_namespace: str | None = option("namespace for names without one, such as 'a.b'", default=None)
    timeout: float = option("time-out for a response in seconds", default=30.0)
    ssl_verify: bool = option("false accepts any TLS certificate", default=True)
    ca_bundle: str | None = option("file with trusted TLS certificates", default=None)
    views: bool = option("true if the server supports views but does not announce them", default=False)
    access_delegation: str = option(
        "requested access to files: vended-credentials, remote-signing or none",
        default="vended-credentials",
    )
    region: str | None = option(
        "region of the files and of signed requests; overrides that of the server", default=None
    )
    endpoint: str | None = option("endpoint of the object store; overrides that of the server", default=None)
    signing_name: str | None = option(
        "service name for requests signed with a secret of type aws; by default derived from the location",
        default=None,
    )


class IcebergRestCatalog(IcebergCatalog):
    """A server without views."""

    TYPE: ClassVar[str] = "iceberg_rest"
    Options: ClassVar[type[IcebergRestOptions]] = IcebergRestOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("ca_bundle",)
    PASSES_TOKEN: ClassVar[bool] = True

    def __init__(self, client: RestClient) -> None:
        super().__init__(self.TYPE, lambda: client)

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        endpoint = options.get("ENDPOINT")
        found = [destination_of(_uri(location))]
        return [*found, destination_of(str(endpoint), library=True)] if endpoint else found

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> IcebergCatalog:
        """Requests the configuration of the server at `location`."""
        parsed = parse_options(IcebergRestOptions, options, f"catalog type {cls.TYPE}")
        check_seconds(parsed.timeout, cls.TYPE)
        if parsed.region is not None:
            check_region(parsed.region, "option REGION")
        if parsed.ca_bundle is not None and not Path(parsed.ca_bundle).is_file():
            raise InvalidArgument(
                f"option CA_BUNDLE must be a file with certificates, and {parsed.ca_bundle!r} is none"
            )
        with translate_errors("catalog", (alias,)):
            client = _client(alias, _uri(location), parsed, access)
        found = _KINDS[client.has_views, client.has_transactions]
        return with_default_namespace(found, parsed.default_namespace)(client)


class IcebergRestViewCatalog(IcebergRestCatalog, IcebergViewCatalog):
    """A server with views."""


class _Transactions(IcebergRestCatalog):
    """A server that accepts changes of several tables in one request."""

    @property
    def creates_in_transactions(self) -> bool:
        return False

    def commit_tables(self, changes: Sequence[TableChange]) -> None:
        with translate_errors("transaction", ()):
            cast("RestClient", self.inner).commit_tables(changes)


class _TransactionsAndViews(_Transactions, IcebergRestViewCatalog):
    """A server with views and multi-table commits."""


_KINDS: dict[tuple[bool, bool], type[IcebergRestCatalog]] = {
    (False, False): IcebergRestCatalog,
    (True, False): IcebergRestViewCatalog,
    (False, True): _Transactions,
    (True, True): _TransactionsAndViews,
}
"""The class by whether the server has views and transactions."""


def check_seconds(timeout: float, type: str) -> None:
    if not 0 < timeout < 1e6:
        raise InvalidArgument(f"option TIMEOUT of catalog type {type} must be a number of seconds above 0")


def _uri(location: str) -> str:
    """Returns the checked address. It must not contain secrets, since addresses appear in errors and logs."""
    address = urlsplit(location)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise InvalidArgument("catalog type iceberg_rest needs an address as its location: 'https://host/path'")
    if address.username is not None or address.password is not None or address.query or address.fragment:
        raise InvalidArgument(
            "the location of a REST catalog takes neither a password nor a query (?…): "
            "CREATE SECRET s (TYPE basic, …) or (TYPE bearer, …), then ATTACH … (SECRET s)"
        )
    return location.rstrip("/").removesuffix("/v1")


def _client(alias: str, uri: str, options: IcebergRestOptions, access: Access) -> RestClient:
    from pinakes.providers.rest.client import RestClient
    from pinakes.providers.rest.http import RestSession

    storage = storage_properties(access.storage)
    session = RestSession(
        uri,
        timeout=options.timeout,
        verify=options.ca_bundle or options.ssl_verify,
        secret=access.secret,
        outbound=access.outbound,
    )
    try:
        _log_in(session, uri, options, access)
        if options.access_delegation.lower() != "none":
            session.headers["X-Iceberg-Access-Delegation"] = options.access_delegation
        given = {"uri": uri, "warehouse": options.warehouse, "prefix": options.prefix}
        chosen = {"s3.region": options.region, "s3.endpoint": options.endpoint}
        if options.views:
            given["view-endpoints-supported"] = "true"
        limit = partial(limited_storage, access=access)
        return RestClient(alias, session, _without_none(given), storage, _without_none(chosen), limit)
    except BaseException:
        session.close()
        raise


def _log_in(session: RestSession, uri: str, options: IcebergRestOptions, access: Access) -> None:
    from pinakes.providers.rest.login import Login, login_of

    def signer() -> Login:
        from pinakes.providers.rest.signing import Signature

        assert access.secret is not None
        return Signature(access.secret, uri, options.region, options.signing_name)

    session.login = login_of(access, f"{uri}/v1/oauth/tokens", session.post_form, signer)


def _without_none(properties: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if value is not None}
