"""Shared code of the tables of system.pipeline: their rows are in Iceberg tables of the catalogs that pipelines write
to.

Each catalog is read with this user's privileges: a user who can't load those tables sees none of their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from typing import Any

from pinakes.core.catalog import IcebergTable, SupportsTables
from pinakes.core.names import dotted
from pinakes.core.pipeline_records import NAMESPACE, RECORDS
from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.calls import Call, Question, start_call
from pinakes.system_tables.catalog_metadata.listing import open_catalog, per_catalog
from pinakes.system_tables.context import MountedCatalog

Row = dict[str, Any]
_TYPES = {"TEXT": TEXT, "NUMBER": NUMBER, "TRUTH": TRUTH, "MOMENT": MOMENT}
_CATALOG = "catalog_name"


def record_table(name: str, doc: str) -> SystemTable[Row]:
    """Returns a system table of records of all catalogs."""
    first: Column[Row] = Column(
        _CATALOG,
        TEXT,
        "Catalog of the pipeline, which stores this record",
        itemgetter(_CATALOG),
        level="catalog",
    )
    fields = tuple(Column(f.name, _TYPES[f.type], f.doc, partial(_value, f.name)) for f in RECORDS[name])
    return SystemTable(name, doc, (first, *fields), partial(_rows, name))


def _value(field: str, row: Row) -> object:
    return row.get(field)


def _rows(name: str, request: Request) -> Iterator[Row]:
    return per_catalog(request, lambda mount: _of(name, request, mount))


def _of(name: str, request: Request, mount: MountedCatalog) -> Iterator[Row]:
    if mount.is_system:
        return
    catalog = open_catalog(request, mount)
    if not isinstance(catalog, SupportsTables):
        return
    schema = dotted(NAMESPACE)
    load: Call[Any] = start_call(
        request.context, mount, Question("load the table", schema, name), catalog.load_table, NAMESPACE, name
    )
    table = load.answer(None)
    if not isinstance(table, IcebergTable):
        return
    read: Call[list[Row]] = start_call(
        request.context, mount, Question("read the table", schema, name), lambda: _read(table, request)
    )
    for row in read.answer([]):
        yield {_CATALOG: mount.name, **row}


def _read(table: IcebergTable, request: Request) -> list[Row]:
    """Returns the requested columns that exist in the table, which an older version may have created."""
    there = {field.name for field in table.handle.schema().fields}
    wanted = tuple(sorted(there & request.columns)) or tuple(sorted(there)[:1])
    found: list[Row] = table.handle.scan(selected_fields=wanted).to_arrow().to_pylist()
    return found
