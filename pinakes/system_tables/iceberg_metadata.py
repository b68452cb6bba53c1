"""What the tables of system.iceberg share: each is declared once, and read of all tables or of one.

A declaration (`Metadata`) says what there is to tell of one Iceberg table. `every` makes the table of all tables of it,
with the columns that name them; `of_one` makes `"t$snapshots"`. Some columns have a type of their own in each table (a
partition is a struct): those are JSON in the table of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pinakes.core.catalog import IcebergTable
from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.calls import Call, CatalogLost, Question, ask
from pinakes.system_tables.catalog_executor import ahead
from pinakes.system_tables.common import named
from pinakes.system_tables.context import World
from pinakes.system_tables.loading import Described, described
from pinakes.system_tables.namespaces import window_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table.metadata import TableMetadata

F = TypeVar("F")


class Both(NamedTuple):
    """A value under the type that it has in its own table, and as the text that it is among those of all."""

    typed: object
    text: str | None


@dataclass(frozen=True, slots=True)
class Inside:
    """One Iceberg table, to look into."""

    table: IcebergTable
    read: Callable[[str], pa.Table]
    """A file of manifests by its path."""
    columns: frozenset[str]
    """Those that the query reads."""
    check: Callable[[], None]
    """Raises when the statement was stopped."""

    @property
    def metadata(self) -> TableMetadata:
        return self.table.handle.metadata


@dataclass(frozen=True, slots=True)
class Metadata(Generic[F]):
    """What there is to tell of one Iceberg table: a row per fact."""

    name: str
    doc: str
    columns: tuple[Column[F], ...]
    facts: Callable[[Inside], Iterable[F]]
    reads_files: bool = False
    """The facts stand in files of their own, and not in what a catalog gives when it loads a table."""
    shapes: Mapping[str, Callable[[IcebergTable], pa.DataType | None]] = field(default_factory=dict)
    """Of columns whose values are `Both`: their type in a table, or None where the table has no such column."""


class Row(NamedTuple, Generic[F]):
    """A fact of one of many tables."""

    catalog: str
    schema: str
    name: str
    fact: F


def every(metadata: Metadata[F]) -> SystemTable[Row[F]]:
    """The table of all tables."""
    names: Any = named("catalog_name", "schema_name", "table_name")
    columns = (*names, *(_of_many(c, c.name in metadata.shapes) for c in metadata.columns))
    return SystemTable(metadata.name, metadata.doc, columns, partial(_rows, metadata))


def of_one(metadata: Metadata[F], table: IcebergTable) -> SystemTable[F]:
    """The same of a single table."""
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


# --- of many tables ----------------------------------------------------------------------------------------------


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
    for (found, _), asked in ahead(tables, lambda t: _ask(metadata, request, *t), window_of(request)):
        if found.catalog not in lost:
            try:
                yield found, asked.answer([])
            except CatalogLost:
                lost.add(found.catalog)


def iceberg_tables(request: Request) -> Iterator[tuple[Described, IcebergTable]]:
    for found in described(request, {"TABLE"}):
        if isinstance(found.loaded, IcebergTable):
            yield found, found.loaded


def _ask(metadata: Metadata[F], request: Request, found: Described, table: IcebergTable) -> Call[list[F]]:
    question = Question("read the manifests", found.schema, found.name)
    within = inside(request, table)
    return ask(request.world, found.entry.mount, question, lambda: list(metadata.facts(within)))


def inside(request: Request, table: IcebergTable) -> Inside:
    """A table, for who looks into it on behalf of a request."""
    return Inside(table, _reader(request.world, table), request.columns, request.world.check)


def _reader(world: World, table: IcebergTable) -> Callable[[str], pa.Table]:
    return lambda path: world.read_avro(table, path)
