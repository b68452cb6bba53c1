"""Catalog types by name: built-in ones in one table, those of other packages through the entry-point group
`pinakes.catalogs`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from pinakes.core.catalog import Catalog
from pinakes.core.errors import CatalogUnavailable, InvalidArgument, listing
from pinakes.core.secrets import ANONYMOUS, Access
from pinakes.core.suggestions import did_you_mean
from pinakes.providers.locations import is_address, is_remote, local_path
from pinakes.providers.options import parse_options

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pinakes.core.access.outbound import Destination
    from pinakes.parser.statements import OptionValue

TYPES: dict[str, str] = {
    "glue": "pinakes.providers.metastores.glue:GlueCatalog",
    "hms": "pinakes.providers.metastores.hms:HmsCatalog",
    "files": "pinakes.providers.files:FilesCatalog",
    "hadoop": "pinakes.providers.hadoop:HadoopReader",
    "iceberg_rest": "pinakes.providers.iceberg_rest:IcebergRestCatalog",
    "jdbc": "pinakes.providers.jdbc:JdbcCatalog",
    "s3tables": "pinakes.providers.metastores.s3tables:S3TablesCatalog",
    "sqlite": "pinakes.providers.sqlite:SqliteCatalog",
    "vgi": "pinakes.providers.vgi.catalog:VgiCatalog",
}
"""The class path by type name; a module is imported when the first catalog of its type is opened."""

GROUP = "pinakes.catalogs"


class CatalogType(Protocol):
    """The interface of a catalog type's class: its options as a dataclass, and how to open a catalog."""

    Options: ClassVar[type[Any]]
    # Optional attributes of a type:
    # LOCAL_PATHS         those of `location` and the options that are local paths
    # paths_within        a class method: the local paths within a location that is not a path itself
    # PASSES_TOKEN        True if it sends `access.token`, for PASS_TOKEN
    # RUNS_COMMANDS       True if it starts a program of the user's choice, or a static method of the location
    # SERVER_CREDENTIALS  True if without a secret it uses the credentials of the process
    # CREDENTIAL_OPTIONS  options that select such credentials
    # destinations        a class method: the hosts that the location and the options lead to; without it, a location
    #                     that is a URL is assumed to be opened by a library
    # RUNS_COMMANDS and the credentials of the process are for administrators (`engine/catalogs/authorization`).

    @classmethod
    def open(cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access) -> Catalog:
        """Opens the catalog that `location` and the options describe, to be mounted as `alias`."""
        ...


def open_catalog(
    type: str, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
) -> Catalog:
    """Opens a catalog of a type. Every error is typed; those about options list the available options."""
    return load_type(type).open(alias, location, options, access)


def local_paths(type: str, location: str, options: Mapping[str, OptionValue]) -> list[str]:
    """Returns the local paths that a catalog would be opened on, as declared by its type (`LOCAL_PATHS`)."""
    given = {"location": location, **{key.lower(): str(value) for key, value in options.items() if value is not None}}
    named = getattr(load_type(type), "LOCAL_PATHS", ())
    within = getattr(load_type(type), "paths_within", None)
    found = [given[key] for key in named if given.get(key) and not is_remote(given[key])]
    return [str(local_path(path)) for path in (*found, *(within(location, options) if within is not None else ()))]


def paths_from(
    base: Path | None, type: str, location: str, options: Mapping[str, OptionValue]
) -> tuple[str, Mapping[str, OptionValue]]:
    """Returns location and options of a catalog, with relative paths (`LOCAL_PATHS`) resolved against `base`."""
    if base is None:
        return location, options
    named = getattr(load_type(type), "LOCAL_PATHS", ())

    def placed(key: str, value: OptionValue) -> OptionValue:
        is_path = key.lower() in named and isinstance(value, str) and value and not is_address(value)
        return str(base / Path(str(value)).expanduser()) if is_path else value

    return str(placed("location", location)), {key: placed(key, value) for key, value in options.items()}


def check_options(type: str, options: Mapping[str, OptionValue]) -> None:
    """Raises, before anything is opened, if a type would refuse its options."""
    parse_options(load_type(type).Options, options, f"catalog type {type}")


def passes_token(type: str) -> bool:
    """Whether catalogs of a type can send a user's own token (`PASSES_TOKEN`)."""
    return bool(getattr(load_type(type), "PASSES_TOKEN", False))


def runs_commands(type: str, location: str) -> bool:
    """Whether mounting a catalog of a type starts a program (`RUNS_COMMANDS`)."""
    found = getattr(load_type(type), "RUNS_COMMANDS", False)
    return bool(found(location) if callable(found) else found)


def uses_server_credentials(type: str, options: Mapping[str, OptionValue], *, has_secret: bool) -> bool:
    """Whether a catalog uses the credentials of this process: without a secret (`SERVER_CREDENTIALS`), or because an
    option selects them (`CREDENTIAL_OPTIONS`).
    """
    found = load_type(type)
    named = {key.lower() for key, value in options.items() if value not in (None, False, "", "false")}
    if named & set(getattr(found, "CREDENTIAL_OPTIONS", ())):
        return True
    return not has_secret and bool(getattr(found, "SERVER_CREDENTIALS", False))


def destinations(type: str, location: str, options: Mapping[str, OptionValue]) -> list[Destination]:
    """Returns the hosts that a catalog would connect to (`destinations`)."""
    found = load_type(type)
    if hasattr(found, "destinations"):
        return list(found.destinations(location, options))
    if "://" not in location or not is_remote(location):
        return []
    from pinakes.core.access.outbound import destination_of

    return [destination_of(location, library=True)]


_OTHER_NAMES = {
    **dict.fromkeys(("postgres", "postgresql", "mysql", "mariadb"), "jdbc"),
    **dict.fromkeys(("rest", "iceberg", "polaris", "nessie"), "iceberg_rest"),
    **dict.fromkeys(("csv", "parquet", "json", "arrow"), "files"),
    "hive": "hms",
    "aws": "glue",
    "sql": "sqlite",
    "worker": "vgi",
}
"""Common other names of the types, from other engines or from the underlying product."""


def has_functions(type: str) -> bool:
    """Whether catalogs of a type may have functions."""
    return type.lower() in TYPES and hasattr(load_type(type), "list_functions")


def known_types() -> list[str]:
    return sorted({*TYPES, *(point.name for point in _foreign())})


def load_type(name: str) -> type[CatalogType]:
    """Returns the class of a catalog type. The name is case-insensitive."""
    wanted = name.lower()
    if wanted in TYPES:
        module, _, attribute = TYPES[wanted].partition(":")
        return cast("type[CatalogType]", getattr(importlib.import_module(module), attribute))
    for point in _foreign():
        if point.name.lower() == wanted:
            return _load_foreign(point)
    hint = f" That is (TYPE {_OTHER_NAMES[wanted]})." if wanted in _OTHER_NAMES else did_you_mean(wanted, known_types())
    raise InvalidArgument(f"catalog type {name!r} is not known; known types: {listing(known_types())}.{hint}")


def _foreign() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # 40 ms that built-in types do not need

    return entry_points(group=GROUP)


def _load_foreign(point: EntryPoint) -> type[CatalogType]:
    try:
        return cast("type[CatalogType]", point.load())
    except (ImportError, AttributeError) as error:
        raise CatalogUnavailable(
            f"catalog type {point.name!r} comes from {point.value}, which fails: {error}"
        ) from error
