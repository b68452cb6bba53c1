"""Catalog type `jdbc`: Iceberg tables listed in PostgreSQL, MySQL or MariaDB, compatible with Java's JdbcCatalog.

The location is `[scheme://][user[:password]@]host[:port][/database]` or a `jdbc:` address; its scheme selects the
database. User and password come from a secret of type `basic` if ATTACH names one, else from the location.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pinakes.core.access.outbound import Destination
from pinakes.core.errors import InvalidArgument, NotSupportedError, PinakesError
from pinakes.core.secrets import ANONYMOUS, Access, Secret
from pinakes.providers.iceberg.storage import absolute_warehouse, limited_storage, storage_properties
from pinakes.providers.options import option, parse_options, with_default_namespace
from pinakes.providers.sql_catalog.adapter import StoreCatalog
from pinakes.providers.sql_catalog.address import Address, parse_address
from pinakes.providers.sql_catalog.database import choose_name
from pinakes.providers.sql_catalog.driver import Driver
from pinakes.providers.sql_catalog.server_database import ServerDatabase
from pinakes.providers.sql_catalog.sql_store import SqlStore

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue


@dataclass(frozen=True, slots=True)
class JdbcOptions:
    """The options of ATTACH … (TYPE jdbc, …)."""

    warehouse: str | None = option(
        "location of new tables, a directory or a URI; required to create tables", default=None
    )
    catalog_name: str | None = option(
        "catalog name in the database; by default the only one stored, else the name of the mount", default=None
    )
    default_namespace: str | None = option("namespace for names without one, such as 'a.b'", default=None)
    max_connections: int = option("maximum number of concurrent connections", default=4)
    upgrade: bool = option("true upgrades an older database (V0), to support views", default=False)
    driver: str | None = option("postgresql, mysql or mariadb, if the location does not contain it", default=None)
    connect_timeout: float = option("time-out for a connection in seconds", default=10.0)
    statement_timeout: float = option("time-out for a statement in seconds", default=60.0)
    ssl_mode: str | None = option(
        "disable, prefer (the default), require, verify-ca or verify-full, as in PostgreSQL", default=None
    )
    ssl_root_cert: str | None = option("file with the certificates for verify-ca and verify-full", default=None)


class JdbcCatalog(StoreCatalog):
    """The catalog. It has a default namespace only with the option DEFAULT_NAMESPACE."""

    TYPE: ClassVar[str] = "jdbc"
    Options: ClassVar[type[JdbcOptions]] = JdbcOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("warehouse", "ssl_root_cert")

    @classmethod
    def paths_within(cls, location: str, options: Mapping[str, OptionValue]) -> list[str]:
        """Returns the local paths in a location: the directory of a server's socket, which may authenticate the user of
        this process, and certificates.
        """
        driver = options.get("DRIVER")
        address = parse_address(location, None if driver is None else str(driver), None, None)
        sockets = [found.host for found in address.destinations if found.is_socket]
        return [*sockets, *([address.ssl_root_cert] if address.ssl_root_cert not in ("", "system") else [])]

    @classmethod
    def destinations(cls, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
        driver = options.get("DRIVER")
        return parse_address(location, None if driver is None else str(driver), None, None).destinations

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> JdbcCatalog:
        """Opens the catalog in the database at `location` and creates its two tables if they are missing."""
        parsed = parse_options(JdbcOptions, options, f"catalog type {cls.TYPE}")
        for name in ("connect_timeout", "statement_timeout"):
            if not 0 < getattr(parsed, name) < 1e6:
                raise InvalidArgument(f"option {name.upper()} of catalog type jdbc must be a number of seconds above 0")
        properties = limited_storage(storage_properties(access.storage), access)
        if parsed.warehouse is not None:
            properties["warehouse"] = absolute_warehouse(parsed.warehouse)
        found = with_default_namespace(cls, parsed.default_namespace)
        return found(cls.TYPE, _open_store(location, alias, parsed, access), properties)


def _open_store(location: str, alias: str, options: JdbcOptions, access: Access) -> SqlStore:
    address = parse_address(location, options.driver, options.ssl_mode, options.ssl_root_cert)
    secret = access.of_type("basic")
    if secret is not None:
        secret.check_scope(*address.places)
    login = login_to(address, secret)
    driver = _driver(address)(address, login, options.connect_timeout, options.statement_timeout, access)
    database = ServerDatabase(driver, address.place, options.max_connections, options.statement_timeout)
    try:
        store = SqlStore(database, choose_name(database, alias, options.catalog_name))
        store.initialize()
        if options.upgrade:
            store.upgrade()
    except PinakesError:
        database.close()
        raise
    return store


def login_to(address: Address, secret: Secret | None) -> Callable[[], tuple[str, str]]:
    """Returns a function that supplies user and password. A secret is read for each connection, so that a dropped one
    opens no more connections.
    """
    if secret is not None:
        return lambda: (secret["USERNAME"], secret["PASSWORD"])
    if not address.user:
        raise InvalidArgument(
            "catalog type jdbc needs a user: give one in the location (user@host), or a SECRET of type basic"
        )
    return lambda: (address.user, address.password)


def _driver(address: Address) -> Callable[[Address, Callable[[], tuple[str, str]], float, float, Access], Driver]:
    try:
        if address.driver == "postgres":
            from pinakes.providers.sql_catalog.postgres import PostgresDriver

            return PostgresDriver
        from pinakes.providers.sql_catalog.mysql import MySqlDriver

        return MySqlDriver
    except ImportError as error:
        raise NotSupportedError(
            f"{address.place} needs a package that is not installed: pip install 'pinakes[{address.driver}]'"
        ) from error
