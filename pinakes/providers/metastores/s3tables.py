"""Catalog type `s3tables`: the tables of an Amazon S3 table bucket.

The location is the bucket's ARN. The service stores the names and, for each table, the location of its current
metadata; we write the files, below the location that the service assigns to a table. The service needs a table's name,
not its columns, before the first file can be written: so a table created from a query is listed while the query runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pinakes.core.access.outbound import Destination, destination_of
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import Namespace
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.iceberg.adapter import translate_errors
from pinakes.providers.iceberg_rest import check_seconds
from pinakes.providers.metastores.aws import boto_config, boto_session, bounded, storage_of
from pinakes.providers.metastores.one_level import OneLevelCatalog
from pinakes.providers.options import option, parse_options, with_default_namespace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyiceberg.catalog import Catalog as PyIcebergCatalog

    from pinakes.parser.statements import OptionValue

_ARN = re.compile(r"arn:[a-z-]+:s3tables:([a-z0-9-]+):\d*:bucket/[a-z0-9.-]+")
_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,254}")


@dataclass(frozen=True, slots=True)
class S3TablesOptions:
    """The options of ATTACH … (TYPE s3tables, …)."""

    region: str | None = option("AWS region; by default that of the ARN", default=None)
    endpoint: str | None = option("endpoint of S3 Tables, if it is not AWS", default=None)
    s3_endpoint: str | None = option("endpoint of the object store, if it is not AWS", default=None)
    profile: str | None = option("profile of the AWS configuration, instead of a SECRET", default=None)
    default_namespace: str | None = option("namespace for names without one", default=None)
    timeout: float = option("time-out for a response in seconds", default=20.0)


class S3TablesCatalog(OneLevelCatalog):
    """A table bucket. Namespaces have one level and no properties; there are no views."""

    TYPE: ClassVar[str] = "s3tables"
    Options: ClassVar[type[S3TablesOptions]] = S3TablesOptions
    SERVER_CREDENTIALS: ClassVar[bool] = True
    CREDENTIAL_OPTIONS: ClassVar[tuple[str, ...]] = ("profile",)

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        found = (options.get("ENDPOINT"), options.get("S3_ENDPOINT"))
        return [destination_of(str(endpoint), library=True) for endpoint in found if endpoint]

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> S3TablesCatalog:
        """Opens the catalog without sending a request."""
        parsed = parse_options(S3TablesOptions, options, f"catalog type {cls.TYPE}")
        check_seconds(parsed.timeout, cls.TYPE)
        arn = _ARN.fullmatch(location)
        if arn is None:
            raise InvalidArgument(
                "catalog type s3tables needs the ARN of a table bucket as its location: "
                "'arn:aws:s3tables:REGION:ACCOUNT:bucket/NAME'"
            )
        with translate_errors("catalog", (alias,)):
            inner = _open(alias, location, arn[1], parsed, access)
        return with_default_namespace(cls, parsed.default_namespace)(cls.TYPE, lambda: inner)

    def check_name(self, name: str, what: str) -> None:
        super().check_name(name, what)
        if not _NAME.fullmatch(name):
            raise InvalidArgument(
                f"S3 Tables has names of lower case letters, digits and _ only, so a {what} can't be named {name!r}"
            )

    def create_namespace(self, namespace: Namespace, properties: Mapping[str, str]) -> None:
        _refuse(properties)
        super().create_namespace(namespace, properties)

    def alter_namespace(self, namespace: Namespace, updates: Mapping[str, str], removals: Iterable[str]) -> None:
        self._require(namespace)
        _refuse(updates)


def _refuse(properties: Mapping[str, str]) -> None:
    if properties:
        raise NotSupportedError("namespaces of S3 Tables have neither properties nor comments")


def _open(alias: str, arn: str, region: str, options: S3TablesOptions, access: Access) -> PyIcebergCatalog:
    session = boto_session(access.of_type("aws"), options.region or region, options.profile)
    client: Any = bounded(
        session.client("s3tables", endpoint_url=options.endpoint, config=boto_config(options.timeout)), options.timeout
    )

    from pinakes.providers.metastores.s3tables_client import S3TablesClientCatalog

    return S3TablesClientCatalog(
        alias, client, arn, storage_of(session, access, options.s3_endpoint or options.endpoint)
    )
