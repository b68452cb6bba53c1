"""Catalog type `glue`: Iceberg tables in the AWS Glue Data Catalog.

The location is empty, the ID of the account that owns the catalog, or the address of a service with Glue's protocol.
Keys come from a secret of type aws, otherwise from the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pinakes.core.access.outbound import Destination, destination_of
from pinakes.core.errors import InvalidArgument
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.iceberg.adapter import translate_errors
from pinakes.providers.iceberg.storage import absolute_warehouse
from pinakes.providers.iceberg_rest import check_seconds
from pinakes.providers.metastores.aws import boto_config, boto_session, bounded, storage_of
from pinakes.providers.metastores.one_level import OneLevelCatalog
from pinakes.providers.options import option, parse_options, with_default_namespace

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as PyIcebergCatalog

    from pinakes.parser.statements import OptionValue


@dataclass(frozen=True, slots=True)
class GlueOptions:
    """The options of ATTACH … (TYPE glue, …)."""

    warehouse: str | None = option("location of new tables, such as 's3://bucket/path'", default=None)
    region: str | None = option("AWS region; by default that of the secret or the environment", default=None)
    endpoint: str | None = option("endpoint of Glue, if it is not AWS", default=None)
    s3_endpoint: str | None = option("endpoint of the object store, if it is not AWS", default=None)
    catalog_id: str | None = option("AWS account of the catalog; by default that of the keys", default=None)
    profile: str | None = option("profile of the AWS configuration, instead of a SECRET", default=None)
    default_namespace: str | None = option("namespace for names without one", default=None)
    timeout: float = option("time-out for a response in seconds", default=20.0)


class GlueCatalog(OneLevelCatalog):
    """A Glue catalog. Databases are namespaces of one level; there are no views."""

    TYPE: ClassVar[str] = "glue"
    Options: ClassVar[type[GlueOptions]] = GlueOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("warehouse",)
    SERVER_CREDENTIALS: ClassVar[bool] = True
    CREDENTIAL_OPTIONS: ClassVar[tuple[str, ...]] = ("profile",)

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        parsed = parse_options(GlueOptions, options, f"catalog type {cls.TYPE}")
        found = (place(location, parsed)[0], parsed.s3_endpoint)
        return [destination_of(endpoint, library=True) for endpoint in found if endpoint]

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> GlueCatalog:
        """Opens the catalog without sending a request."""
        parsed = parse_options(GlueOptions, options, f"catalog type {cls.TYPE}")
        check_seconds(parsed.timeout, cls.TYPE)
        endpoint, account = place(location, parsed)
        with translate_errors("catalog", (alias,)):
            inner = _open(alias, endpoint, account, parsed, access)
        return with_default_namespace(cls, parsed.default_namespace)(cls.TYPE, lambda: inner)

    def check_name(self, name: str, what: str) -> None:
        """Refuses upper case: Glue folds names to lower case, and Athena reads no others."""
        super().check_name(name, what)
        if name != name.lower():
            raise InvalidArgument(f"Glue has names in lower case only, so a {what} can't be named {name!r}")


def place(location: str, options: GlueOptions) -> tuple[str | None, str | None]:
    """Returns the endpoint and the account."""
    if location.startswith(("http://", "https://")):
        return options.endpoint or location, options.catalog_id
    if location and not location.isdigit():
        raise InvalidArgument(
            "the location of a glue catalog is empty, the number of an AWS account, or the address of Glue: "
            "ATTACH '' AS name (TYPE glue, REGION 'eu-central-1', …)"
        )
    return options.endpoint, options.catalog_id or location or None


def _open(
    alias: str, endpoint: str | None, account: str | None, options: GlueOptions, access: Access
) -> PyIcebergCatalog:
    session = boto_session(access.of_type("aws"), options.region, options.profile)
    client: Any = bounded(
        session.client("glue", endpoint_url=endpoint, config=boto_config(options.timeout)), options.timeout
    )
    from pyiceberg.catalog.glue import _register_glue_catalog_id_with_glue_client as register

    from pinakes.providers.metastores.glue_client import GlueClientCatalog

    if account is not None:
        register(client, account)
    properties = storage_of(session, access, options.s3_endpoint or endpoint)
    if options.warehouse is not None:
        properties["warehouse"] = absolute_warehouse(options.warehouse)
    return GlueClientCatalog(alias, client, **properties)
