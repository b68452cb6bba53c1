"""Catalog type `hms`: Iceberg tables in a Hive metastore.

The location is its address, `thrift://host:port`. Databases are namespaces of one level, names are in lower case, and
there are no Iceberg views.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from pinakes.core.access.outbound import Destination, destination_of
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.iceberg.adapter import translate_errors
from pinakes.providers.iceberg.storage import absolute_warehouse, limited_storage, storage_properties
from pinakes.providers.iceberg_rest import check_seconds
from pinakes.providers.metastores.one_level import OneLevelCatalog
from pinakes.providers.options import option, parse_options, with_default_namespace

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as PyIcebergCatalog

    from pinakes.parser.statements import OptionValue

PORT = 9083
_NAME = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class HmsOptions:
    """The options of ATTACH … (TYPE hms, …)."""

    warehouse: str | None = option(
        "location of tables in databases without a location, a directory or a URI", default=None
    )
    ugi: str | None = option("user, or user:group,…, for the metastore", default=None)
    kerberos: bool = option("true authenticates with Kerberos, with the existing ticket", default=False)
    kerberos_service: str = option("Kerberos service name of the metastore", default="hive")
    hive2_compatible: bool = option("true writes column types that Hive 2 can read", default=False)
    default_namespace: str | None = option("namespace for names without one", default=None)
    timeout: float = option("time-out for a response or a lock in seconds", default=30.0)


class HmsCatalog(OneLevelCatalog):
    """The databases of a metastore and their Iceberg tables."""

    TYPE: ClassVar[str] = "hms"
    Options: ClassVar[type[HmsOptions]] = HmsOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("warehouse",)
    CREDENTIAL_OPTIONS: ClassVar[tuple[str, ...]] = ("kerberos",)

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        return [destination_of(uri_of(location))]

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> HmsCatalog:
        """Opens the catalog without sending a request."""
        parsed = parse_options(HmsOptions, options, f"catalog type {cls.TYPE}")
        check_seconds(parsed.timeout, cls.TYPE)
        access.of_type()  # it takes no secret: Hive's protocol has no passwords
        with translate_errors("catalog", (alias,)):
            inner = _open(alias, uri_of(location), parsed, access)
        return with_default_namespace(cls, parsed.default_namespace)(cls.TYPE, lambda: inner)

    def check_name(self, name: str, what: str) -> None:
        super().check_name(name, what)
        if not _NAME.fullmatch(name):
            raise InvalidArgument(
                f"a Hive metastore has names of lower case letters, digits and _ only, so a {what} can't be named "
                f"{name!r}"
            )


def uri_of(location: str) -> str:
    address = urlsplit(location if "://" in location else f"thrift://{location}")
    try:
        port = address.port or PORT
    except ValueError:
        port = 0
    if address.scheme != "thrift" or not address.hostname or not port or address.username is not None:
        raise InvalidArgument("catalog type hms needs the metastore's address as its location: 'thrift://host:port'")
    return f"thrift://{address.hostname}:{port}"


def _open(alias: str, uri: str, options: HmsOptions, access: Access) -> PyIcebergCatalog:
    try:
        from pinakes.providers.metastores.hms_client import HiveClientCatalog
    except ImportError as error:
        raise NotSupportedError(
            "catalogs in a Hive metastore need thrift, which is not installed: pip install 'pinakes[hive]'"
        ) from error
    properties = {
        "uri": uri,
        "hive.hive2-compatible": str(options.hive2_compatible).lower(),
        "hive.kerberos-authentication": str(options.kerberos).lower(),
        "hive.kerberos-service-name": options.kerberos_service,
        **limited_storage(storage_properties(access.storage), access),
    }
    if options.warehouse is not None:
        properties["warehouse"] = absolute_warehouse(options.warehouse)
    if options.ugi is not None:
        properties["ugi"] = options.ugi
    return HiveClientCatalog(alias, options.timeout, access.outbound, **properties)
