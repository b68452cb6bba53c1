"""The mounts of system tables, which every session has, under reserved names: `system` and `information_schema`."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM
from pinakes.engine.catalogs.registry import Mount

if TYPE_CHECKING:
    from pinakes.core.catalog import Catalog
    from pinakes.core.identity import Identity


@cache
def system_mounts() -> dict[str, Mount]:
    """By name. The second is `information_schema` without a catalog, which covers all catalogs."""
    return {
        SYSTEM: Mount(SYSTEM, SYSTEM, "system", "", _system),
        INFORMATION_SCHEMA: Mount(INFORMATION_SCHEMA, SYSTEM, "system", "", _information_schema),
    }


@lru_cache(maxsize=1000)
def information_schema_mount(catalog: str) -> Mount:
    """Returns the mount that resolves the `information_schema` of a catalog: under the catalog's name, for any catalog
    type.
    """

    def open(_: Identity) -> Catalog:
        from pinakes.system_tables.catalog import information_schema_of

        return information_schema_of(catalog)

    return Mount(catalog, SYSTEM, "system", "", open)


def _system(_: Identity) -> Catalog:
    from pinakes.system_tables.catalog import system_catalog

    return system_catalog()


def _information_schema(_: Identity) -> Catalog:
    from pinakes.system_tables.catalog import EveryInformationSchema

    return EveryInformationSchema()
