"""Catalog types by name: ours in one table, other packages' through the entry-point group `pinakes.catalogs`."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from pinakes.core.catalog import Catalog
from pinakes.core.errors import CatalogUnavailable, InvalidArgument, listing
from pinakes.core.secrets import ANONYMOUS, Access

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pinakes.parser.statements import OptionValue

TYPES: dict[str, str] = {
    "sqlite": "pinakes.providers.sqlite:SqliteCatalog",
}
"""Type name → where its class is; a module is imported when the first catalog of its type is opened."""

GROUP = "pinakes.catalogs"


class CatalogType(Protocol):
    """What a catalog type's class offers: its options as a dataclass, and how to open one."""

    Options: ClassVar[type[Any]]

    @classmethod
    def open(cls, alias: str, location: str, options: Mapping[str, OptionValue], access: Access) -> Catalog:
        """Open the catalog that `location` and the options describe, to be mounted as `alias`."""
        ...


def open_catalog(
    type: str, alias: str, location: str, options: Mapping[str, OptionValue], access: Access = ANONYMOUS
) -> Catalog:
    """A catalog of a type. Every error is typed; those about options list the options there are."""
    return load_type(type).open(alias, location, options, access)


def known_types() -> list[str]:
    return sorted({*TYPES, *(point.name for point in _foreign())})


def load_type(name: str) -> type[CatalogType]:
    """The class of a catalog type, whatever the case of its name."""
    wanted = name.lower()
    if wanted in TYPES:
        module, _, attribute = TYPES[wanted].partition(":")
        return cast("type[CatalogType]", getattr(importlib.import_module(module), attribute))
    for point in _foreign():
        if point.name.lower() == wanted:
            return _load_foreign(point)
    raise InvalidArgument(f"catalog type {name!r} is not known; known types: {listing(known_types())}")


def _foreign() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # 40 ms that a type of ours need not pay

    return entry_points(group=GROUP)


def _load_foreign(point: EntryPoint) -> type[CatalogType]:
    try:
        return cast("type[CatalogType]", point.load())
    except (ImportError, AttributeError) as error:
        raise CatalogUnavailable(
            f"catalog type {point.name!r} comes from {point.value}, which fails: {error}"
        ) from error
