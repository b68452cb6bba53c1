"""Catalog type `sqlite`: local Iceberg tables, listed in one SQLite file. It needs no server.

The location is a directory, which holds `catalog.db` and `warehouse/`, or a database file; then WAREHOUSE is the
location of the data. pyiceberg's SqlCatalog can open the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pinakes.core.errors import CatalogUnavailable, InvalidArgument, PinakesError
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.providers.iceberg.storage import absolute_warehouse, limited_storage, storage_properties
from pinakes.providers.locations import is_remote, local_path
from pinakes.providers.options import option, parse_options, with_default_namespace
from pinakes.providers.sql_catalog.adapter import StoreCatalog
from pinakes.providers.sql_catalog.database import choose_name
from pinakes.providers.sql_catalog.sqlite import SqliteStore
from pinakes.providers.sql_catalog.sqlite_connection import SqliteConnection

if TYPE_CHECKING:
    from pinakes.parser.statements import OptionValue

_FILE_SUFFIXES = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """The options of ATTACH … (TYPE sqlite, …)."""

    warehouse: str | None = option(
        "location of new tables, a directory or a URI; required with a database file", default=None
    )
    catalog_name: str | None = option(
        "catalog name in the database; by default the only one stored, else the name of the mount", default=None
    )
    default_namespace: str | None = option("namespace for names without one, such as 'a.b'", default=None)
    upgrade: bool = option("true upgrades an older database (V0), to support views", default=False)


class SqliteCatalog(StoreCatalog):
    """The catalog. It has a default namespace only with the option DEFAULT_NAMESPACE."""

    TYPE: ClassVar[str] = "sqlite"
    Options: ClassVar[type[SqliteOptions]] = SqliteOptions
    LOCAL_PATHS: ClassVar[tuple[str, ...]] = ("location", "warehouse")

    @classmethod
    def open(
        cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
    ) -> SqliteCatalog:
        """Opens or creates the database at `location`."""
        parsed = parse_options(SqliteOptions, options, f"catalog type {cls.TYPE}")
        database, warehouse = places(location, parsed.warehouse)
        properties = {"warehouse": warehouse, **limited_storage(storage_properties(access.storage), access)}
        access.of_type()  # it takes no secret: access to the file is access to the catalog
        found = with_default_namespace(cls, parsed.default_namespace)
        return found(cls.TYPE, _open_store(database, alias, parsed), properties)


def places(location: str, warehouse: str | None) -> tuple[Path, str]:
    """Returns the database file and the warehouse; creates their directories if they are local."""
    if not location or location == ":memory:":
        raise InvalidArgument("catalog type sqlite needs a directory or a database file as its location")
    if is_remote(location):
        raise InvalidArgument(f"a SQLite database must be a local file, and {location.partition(':')[0]}:// is not")
    path = local_path(location)
    is_file = path.is_file() or (path.suffix.lower() in _FILE_SUFFIXES and not path.is_dir())
    if is_file and warehouse is None:
        raise InvalidArgument(f"{location} is a database file; say where the data goes with the option WAREHOUSE '…'")
    directory = path.parent if is_file else path
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CatalogUnavailable(f"the directory {directory} can't be made: {error.strerror}") from error
    chosen = str(directory / "warehouse") if warehouse is None else warehouse
    return (path if is_file else path / "catalog.db"), absolute_warehouse(chosen)


def _open_store(database: Path, alias: str, options: SqliteOptions) -> SqliteStore:
    connection = SqliteConnection(database)
    try:
        store = SqliteStore(connection, choose_name(connection, alias, options.catalog_name))
        store.initialize()
        if options.upgrade:
            store.upgrade()
    except PinakesError:
        connection.close()
        raise
    return store
