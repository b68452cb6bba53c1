"""Shared code of the tables of system.iceberg: each is declared once, and read for all tables or for one.

A declaration (`Metadata`) describes the facts of one Iceberg table. `every` builds the system table of all tables, with
the columns that name them; `of_one` builds `"t$snapshots"`. Some columns have a type that depends on the table (a
partition is a struct): these are JSON in the system table of all tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pinakes.core.catalog import IcebergTable
from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.calls import Call, CatalogLost, Question, start_call
from pinakes.system_tables.catalog_metadata.executor import submit_ahead
from pinakes.system_tables.catalog_metadata.loading import Described, load_objects
from pinakes.system_tables.catalog_metadata.namespaces import window_of
from pinakes.system_tables.context import SystemContext
from pinakes.system_tables.name_columns import name_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table.metadata import TableMetadata

F = TypeVar("F")


class Both(NamedTuple):
    """A value with its type in its own table, and as JSON text for the system table of all tables."""

    typed: object
    text: str | None


@dataclass(frozen=True, slots=True)
class Inside:
    """One Iceberg table whose metadata is read."""

    table: IcebergTable
    read: Callable[[str], pa.Table]
    """Reads a manifest or manifest list by its path."""
    columns: frozenset[str]
    """The columns that the query reads."""
    check: Callable[[], None]
    """Raises when the statement was cancelled."""

    @property
    def metadata(self) -> TableMetadata:
        return self.table.handle.metadata


@dataclass(frozen=True, slots=True)
class Metadata(Generic[F]):
    """The declaration of facts of one Iceberg table: a row per fact."""

    name: str
    doc: str
    columns: tuple[Column[F], ...]
    facts: Callable[[Inside], Iterable[F]]
    reads_files: bool = False
    """Whether the facts are in separate files, and not in the metadata that a catalog returns with a table."""
    shapes: Mapping[str, Callable[[IcebergTable], pa.DataType | None]] = field(default_factory=dict)
    """For columns whose values are `Both`: the type in a table, or None if the table has no such column."""


class Row(NamedTuple, Generic[F]):
    """A fact of one of many tables."""

    catalog: str
    schema: str
    name: str
    fact: F


def table_of_all(metadata: Metadata[F]) -> SystemTable[Row[F]]:
    """Returns the system table of all tables."""
    names: Any = name_columns("catalog_name", "schema_name", "table_name")
    columns = (*names, *(_of_many(c, c.name in metadata.shapes) for c in metadata.columns))
    return SystemTable(metadata.name, metadata.doc, columns, partial(_rows, metadata))


def table_of_one(metadata: Metadata[F], table: IcebergTable) -> SystemTable[F]:
    """Returns the system table of a single table."""
    shapes = {name: shape(table) for name, shape in metadata.shapes.items()}
    columns = tuple(
        replace(c, type=shapes[c.name], value=_typed(c)) if c.name in shapes else c
        for c in metadata.columns
        if c.name not in shapes or shapes[c.name] is not None
    )
    return SystemTable(metadata.name, metadata.doc, columns, lambda request: metadata.facts(inside(request, table)))


def _of_many(column: Column[F], is_shaped: bool) -> Column[Row[F]]:
    value = column.value
    if is_shaped:
        return Column(column.name, TEXT, f"{column.doc}, as JSON", lambda row: _both(value(row.fact)).text)
    return Column(column.name, column.type, column.doc, lambda row: value(row.fact), loads=True)


def _typed(column: Column[F]) -> Callable[[F], object]:
    return lambda fact: _both(column.value(fact)).typed


def _both(value: object) -> Both:
    assert isinstance(value, Both)
    return value


# --- all tables --------------------------------------------------------------------------------------------------


def _rows(metadata: Metadata[F], request: Request) -> Iterator[Row[F]]:
    for found, facts in _facts(metadata, request):
        for fact in facts:
            yield Row(found.catalog, found.schema, found.name, fact)


def _facts(metadata: Metadata[F], request: Request) -> Iterator[tuple[Described, Iterable[F]]]:
    tables = iceberg_tables(request)
    if not metadata.reads_files:
        for found, table in tables:
            yield found, metadata.facts(inside(request, table))
        return
    lost: set[str] = set()
    for (found, _), call in submit_ahead(tables, lambda t: _submit(metadata, request, *t), window_of(request)):
        if found.catalog not in lost:
            try:
                yield found, call.answer([])
            except CatalogLost:
                lost.add(found.catalog)


def iceberg_tables(request: Request) -> Iterator[tuple[Described, IcebergTable]]:
    for found in load_objects(request, {"TABLE"}):
        if isinstance(found.loaded, IcebergTable):
            yield found, found.loaded


def _submit(metadata: Metadata[F], request: Request, found: Described, table: IcebergTable) -> Call[list[F]]:
    question = Question("read the manifests", found.schema, found.name)
    within = inside(request, table)
    return start_call(request.context, found.entry.mount, question, lambda: list(metadata.facts(within)))


def inside(request: Request, table: IcebergTable) -> Inside:
    """Returns a table for reading its metadata on behalf of a request."""
    return Inside(table, _reader(request.context, table), request.columns, request.context.check)


def _reader(context: SystemContext, table: IcebergTable) -> Callable[[str], pa.Table]:
    return lambda path: context.read_avro(table, path)
