"""All system tables by schema and name. A table's module is imported on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pinakes.core.catalog import VirtualColumn, VirtualTable
from pinakes.core.names import INFORMATION_SCHEMA
from pinakes.system_tables import iceberg, information_schema, jdbc, metadata, pipeline, runtime
from pinakes.system_tables.base import SystemTable

_PACKAGES = {
    INFORMATION_SCHEMA: information_schema,
    "iceberg": iceberg,
    "jdbc": jdbc,
    "metadata": metadata,
    "pipeline": pipeline,
    "runtime": runtime,
}
"""A schema is a package; its `TABLES` are the names of its tables and of their modules."""

SCHEMAS: tuple[str, ...] = tuple(_PACKAGES)
"""The schemas of the catalog `system`. Every other catalog has `information_schema`."""


def names(schema: str) -> tuple[str, ...]:
    """Returns the names of a schema's tables, in order; none if the schema does not exist."""
    return tuple(sorted(_PACKAGES[schema].TABLES)) if schema in _PACKAGES else ()


@cache
def table(schema: str, name: str) -> SystemTable[Any]:
    """Returns a table of `names(schema)`."""
    found: SystemTable[Any] = import_module(f"{_PACKAGES[schema].__name__}.{name}").TABLE
    return found


@cache
def virtual(schema: str, name: str, catalog: str) -> VirtualTable:
    """Returns the table as it appears in a catalog: `information_schema` covers that catalog only, other schemas all
    catalogs.
    """
    found = table(schema, name)
    columns = tuple(VirtualColumn(c.name, c.type, c.doc) for c in found.columns)
    of = catalog if schema == INFORMATION_SCHEMA and catalog else None
    return VirtualTable((schema,), name, columns, found, of)
