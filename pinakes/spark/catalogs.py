"""Converts a mounted catalog into Spark's configuration: the same location with the same credentials.

The values are sent to one Spark session over its connection; they are never in a file, a command line or a log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pinakes.core.errors import NotSupportedError
from pinakes.core.secrets import Secret
from pinakes.providers.iceberg.storage import absolute_warehouse, storage_properties
from pinakes.providers.options import parse_options
from pinakes.spark.jars import AWS, MARIADB, POSTGRES, Jars

if TYPE_CHECKING:
    from pinakes.engine.catalogs.opening import Opening
    from pinakes.engine.remote.interface import RemoteCatalog

Properties = dict[str, str]

_HOST = re.compile(r"[A-Za-z0-9._:-]+")
_DATABASE = re.compile(r"[\w. $-]+")
_ICEBERG = "org.apache.iceberg"
_KEYS = ("s3.access-key-id", "s3.secret-access-key", "s3.session-token")
_HADOOP_IO, _S3_IO = f"{_ICEBERG}.hadoop.HadoopFileIO", f"{_ICEBERG}.aws.s3.S3FileIO"


def settings_of(catalog: RemoteCatalog) -> Properties:
    """Returns the Spark session settings of a catalog: `spark.sql.catalog.NAME…`."""
    if "." in catalog.name or catalog.name in ("spark_catalog", "system", "session"):
        raise NotSupportedError(
            f"the catalog {catalog.name!r} can't be used on Spark, which knows no catalog of such a name. "
            f"SET engine = 'local'."
        )
    opening = catalog.opening
    if opening.access.outbound is not None:
        raise NotSupportedError(
            f"the catalog {catalog.name!r} was attached by a user who is not an administrator, and can't be used on "
            f"Spark: where Spark connects to is not checked. SET engine = 'local'."
        )
    properties = {**_TYPES[opening.type](opening), "cache-enabled": "false"}
    if catalog.on_s3 and opening.type != "iceberg_rest":
        properties["io-impl"] = _S3_IO
    elif opening.type in ("sqlite", "jdbc", "hms", "hadoop"):
        properties["io-impl"] = _HADOOP_IO
    if any(value.startswith("env:") for value in properties.values()):
        raise NotSupportedError(
            f"an option or secret of catalog {catalog.name!r} begins with env:, which Iceberg on Spark would replace "
            f"by a variable of its environment. SET engine = 'local'."
        )
    prefix = f"spark.sql.catalog.{catalog.name}"
    return {prefix: f"{_ICEBERG}.spark.SparkCatalog", **{f"{prefix}.{key}": value for key, value in properties.items()}}


def jars_of(catalog: RemoteCatalog) -> Jars:
    """Returns the jars that Spark needs for a catalog in addition to `ALWAYS`."""
    needed = {AWS} if catalog.on_s3 or catalog.opening.type in ("glue", "s3tables") else set()
    if catalog.opening.type == "jdbc":
        needed.add(MARIADB if _is_mysql(catalog.opening) else POSTGRES)
    return frozenset(needed)


# --- catalog types ---------------------------------------------------------------------------------------------------


def _sqlite(opening: Opening) -> Properties:
    from pinakes.providers.sqlite import SqliteOptions, places

    options = parse_options(SqliteOptions, opening.options, "catalog type sqlite")
    database, warehouse = places(opening.location, options.warehouse)
    if set(str(database)) & set("?#&%"):
        raise NotSupportedError(
            f"Spark would take a part of {str(database)!r} for options of its driver. SET engine = 'local'."
        )
    return {
        **_jdbc_common(f"jdbc:sqlite:file:{database}?busy_timeout=30000"),
        "warehouse": warehouse,
        **_storage(opening.access.storage),
    }


def _jdbc_common(uri: str) -> Properties:
    return {"catalog-impl": f"{_ICEBERG}.jdbc.JdbcCatalog", "uri": uri, "jdbc.schema-version": "V1"}


def _is_mysql(opening: Opening) -> bool:
    from pinakes.providers.sql_catalog.address import parse_address

    driver = opening.options.get("DRIVER")
    return parse_address(opening.location, None if driver is None else str(driver), None, None).driver == "mysql"


def _jdbc(opening: Opening) -> Properties:
    from pinakes.providers.jdbc import JdbcOptions, login_to
    from pinakes.providers.sql_catalog.address import parse_address

    options = parse_options(JdbcOptions, opening.options, "catalog type jdbc")
    address = parse_address(opening.location, options.driver, options.ssl_mode, options.ssl_root_cert)
    user, password = login_to(address, opening.access.of_type("basic"))()
    if address.destinations[0].is_socket:
        raise NotSupportedError("a database behind a Unix socket can't be reached from Spark. SET engine = 'local'.")
    # Options of these drivers name classes to load and files to read, and could be injected through the host or the
    # database name.
    if address.more_hosts or not _HOST.fullmatch(address.host) or not _DATABASE.fullmatch(address.database):
        raise NotSupportedError(
            "this catalog has a list of hosts, or a host or database with characters that Spark's driver would take "
            "for options. SET engine = 'local'."
        )
    scheme = "mariadb" if address.driver == "mysql" else "postgresql"
    host = f"[{address.host}]" if ":" in address.host else address.host
    found = {
        **_jdbc_common(f"jdbc:{scheme}://{host}:{address.port}/{address.database}"),
        "jdbc.user": user,
        "jdbc.password": password,
        **_encrypted(address.ssl_mode, address.ssl_root_cert, mysql=scheme == "mariadb"),
        **_storage(opening.access.storage),
    }
    if address.schema:
        found["jdbc.currentSchema"] = address.schema
    if options.warehouse is not None:
        found["warehouse"] = absolute_warehouse(options.warehouse)
    return found


def _encrypted(mode: str, certificate: str, *, mysql: bool) -> Properties:
    if not mysql:
        return {"jdbc.sslmode": mode, **({"jdbc.sslrootcert": certificate} if certificate else {})}
    modes = {"require": "trust", "verify-ca": "verify-ca", "verify-full": "verify-full"}
    return {"jdbc.sslMode": modes.get(mode, "disable"), **({"jdbc.serverSslCert": certificate} if certificate else {})}


def _rest(opening: Opening) -> Properties:
    from pinakes.providers.iceberg_rest import IcebergRestOptions

    options = parse_options(IcebergRestOptions, opening.options, "catalog type iceberg_rest")
    if not options.ssl_verify or options.ca_bundle is not None:
        raise NotSupportedError("CA_BUNDLE and SSL_VERIFY are not known to Spark: its Java has its own trust store.")
    chosen = {
        "type": "rest",
        "uri": opening.location.rstrip("/").removesuffix("/v1"),
        "warehouse": options.warehouse,
        "prefix": options.prefix,
        "client.region": options.region,
        "s3.endpoint": options.endpoint,
    }
    found = {key: value for key, value in chosen.items() if value is not None}
    if options.access_delegation.lower() != "none":
        found["header.X-Iceberg-Access-Delegation"] = options.access_delegation
    return {**_storage(opening.access.storage), **found, **_rest_login(opening, options.region, options.signing_name)}


def _rest_login(opening: Opening, region: str | None, service: str | None) -> Properties:
    access = opening.access
    if access.token is not None:
        return {"token": access.token}
    secret = access.of_type("bearer", "basic", "oauth2", "aws")
    match None if secret is None else secret.type:
        case "bearer":
            return {"token": _of(secret, "TOKEN")}
        case "basic":
            user, password = _of(secret, "USERNAME"), _of(secret, "PASSWORD")
            return {
                "rest.auth.type": "basic",
                "rest.auth.basic.username": user,
                "rest.auth.basic.password": password,
            }
        case "oauth2":
            return _oauth(secret, opening.location)
        case "aws":
            return _signed(secret, opening.location, region, service)
    return {}


def _of(secret: Secret | None, key: str) -> str:
    assert secret is not None
    return secret[key]


def _oauth(secret: Secret | None, location: str) -> Properties:
    assert secret is not None
    own = f"{location.rstrip('/').removesuffix('/v1')}/v1/oauth/tokens"
    found = {
        "credential": f"{secret['CLIENT_ID']}:{secret['CLIENT_SECRET']}",
        "oauth2-server-uri": secret.get("TOKEN_URI") or own,
    }
    for key, name in (("OAUTH_SCOPE", "scope"), ("AUDIENCE", "audience"), ("RESOURCE", "resource")):
        if (value := secret.get(key)) is not None:
            found[name] = value
    return found


def _signed(secret: Secret | None, location: str, region: str | None, service: str | None) -> Properties:
    from pinakes.providers.rest.signing import service_of

    keys = storage_properties(secret)
    return _signing(keys, service or service_of(location), region or keys.get("s3.region", ""))


def _glue(opening: Opening) -> Properties:
    """Returns the settings for Glue. Iceberg's Glue client takes its keys from the environment of Spark only, so a
    catalog with its own keys uses Glue's REST endpoint."""
    from pinakes.providers.metastores.glue import GlueOptions, place

    options = parse_options(GlueOptions, opening.options, "catalog type glue")
    endpoint, account = place(opening.location, options)
    keys = _aws(opening, options.region, options.profile)
    region = keys.get("client.region", "")
    if "s3.access-key-id" not in keys:
        chosen = {"catalog-impl": f"{_ICEBERG}.aws.glue.GlueCatalog", "glue.endpoint": endpoint, "glue.id": account}
        if options.warehouse is not None:
            chosen["warehouse"] = absolute_warehouse(options.warehouse)
    elif endpoint is None:
        uri = f"https://glue.{region}.amazonaws.com/iceberg"
        chosen = {"type": "rest", "uri": uri, "warehouse": account, **_signing(keys, "glue", region)}
    else:
        raise NotSupportedError(
            "Spark takes keys for a Glue at an address of its own from its environment alone, not from a secret. "
            "SET engine = 'local'."
        )
    chosen["s3.endpoint"] = options.s3_endpoint or endpoint
    return {**keys, **_storage(opening.access.storage), **{k: v for k, v in chosen.items() if v is not None}}


def _s3tables(opening: Opening) -> Properties:
    """Returns the settings for the service's REST endpoint, which requires signed requests."""
    from pinakes.providers.metastores.s3tables import S3TablesOptions

    options = parse_options(S3TablesOptions, opening.options, "catalog type s3tables")
    region = options.region or opening.location.split(":")[3]
    uri = options.endpoint or f"https://s3tables.{region}.amazonaws.com"
    keys = _aws(opening, region, options.profile)
    login = _signing(keys, "s3tables", region)
    endpoint = {"s3.endpoint": options.s3_endpoint} if options.s3_endpoint else {}
    return {"type": "rest", "uri": f"{uri}/iceberg", "warehouse": opening.location, **keys, **login, **endpoint}


def _signing(keys: Properties, service: str, region: str) -> Properties:
    """Returns the settings that sign each request of a REST catalog with these keys."""
    return {
        "rest.sigv4-enabled": "true",
        "rest.signing-name": service,
        "rest.signing-region": region,
        **{f"rest.{k.removeprefix('s3.')}": v for k, v in keys.items() if k in _KEYS},
    }


def _aws(opening: Opening, region: str | None, profile: str | None) -> Properties:
    """Returns the keys of a secret or a profile; without either, Spark uses the default credential chain."""
    from pinakes.providers.metastores.aws import boto_session

    secret = opening.access.of_type("aws")
    session = boto_session(secret, region, profile)
    found = {} if session.region_name is None else {"client.region": str(session.region_name)}
    credentials = session.get_credentials() if secret is not None or profile is not None else None
    if credentials is None:
        return found
    frozen = credentials.get_frozen_credentials()
    keys = {
        "s3.access-key-id": frozen.access_key,
        "s3.secret-access-key": frozen.secret_key,
        "s3.session-token": frozen.token,
    }
    return {**found, **{key: value for key, value in keys.items() if value}}


def _hms(opening: Opening) -> Properties:
    from pinakes.providers.metastores.hms import HmsOptions, uri_of

    options = parse_options(HmsOptions, opening.options, "catalog type hms")
    if options.kerberos:
        raise NotSupportedError("a Hive metastore with Kerberos can't be reached from Spark here")
    found = {"type": "hive", "uri": uri_of(opening.location), **_storage(opening.access.storage)}
    if options.warehouse is not None:
        found["warehouse"] = absolute_warehouse(options.warehouse)
    return found


def _hadoop(opening: Opening) -> Properties:
    from pinakes.providers.locations import is_remote, local_path

    storage = opening.access.storage or opening.access.of_type("s3", "aws")
    if is_remote(opening.location):
        raise NotSupportedError(
            "a hadoop catalog on an object store is read here only: Spark would need another library for it. "
            "SET engine = 'local'."
        )
    return {"type": "hadoop", "warehouse": str(local_path(opening.location)), **_storage(storage)}


def _storage(secret: Secret | None) -> Properties:
    """Translates pyiceberg's storage properties into those of Iceberg's Java library."""
    given = storage_properties(secret)
    if not given:
        return {}
    renamed = {"s3.region": "client.region"}
    found = {renamed.get(key, key): value for key, value in given.items() if key != "s3.force-virtual-addressing"}
    if "s3.force-virtual-addressing" not in given and "s3.endpoint" in given:
        found["s3.path-style-access"] = "true"
    return found


_TYPES: Mapping[str, Callable[[Opening], Properties]] = {
    "sqlite": _sqlite,
    "jdbc": _jdbc,
    "iceberg_rest": _rest,
    "glue": _glue,
    "s3tables": _s3tables,
    "hms": _hms,
    "hadoop": _hadoop,
}
