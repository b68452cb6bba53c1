"""The declaration of a system table: its name, its columns with a description each, and the source of its rows.

A row source (`items`) yields one object per row; each column reads its value from such an object, and only the columns
that a query needs are read. A column with a `level` contains the name of a catalog, a schema or a table: predicates on
it reach the row source as `Request.wanted`, and so prune the calls that list names
(`system_tables/catalog_metadata/listing.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

import pyarrow as pa

from pinakes.system_tables.context import SystemContext
from pinakes.system_tables.name_predicates import ANYTHING, Level, NamePredicate

R = TypeVar("R")

TEXT = pa.string()
NUMBER = pa.int64()
TRUTH = pa.bool_()
MOMENT = pa.timestamp("ms", tz="UTC")

BATCH_ROWS = 8192


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    name: str
    type: pa.DataType
    doc: str
    """One sentence, also used as the column's comment."""
    value: Callable[[R], object]
    level: Level | None = None
    """The level of the names in this column, if predicates on it are pushed down to the catalogs."""
    loads: bool = False
    """Whether its value needs the table's metadata, and not only its name."""


@dataclass(frozen=True, slots=True)
class Request:
    """The pushdown of a query into a system table."""

    context: SystemContext
    """The user and the visible catalogs."""
    columns: frozenset[str]
    """The columns that the query reads."""
    wanted: NamePredicate = ANYTHING
    """The predicate on names of catalogs, schemas and tables. Applying it is optional, but saves calls."""
    limit: int | None = None
    """The number of rows that are sufficient."""


@dataclass(frozen=True, slots=True)
class SystemTable(Generic[R]):
    name: str
    doc: str
    columns: tuple[Column[R], ...]
    items: Callable[[Request], Iterable[R]]
    arrays: Callable[[Request], Iterable[Mapping[str, pa.Array]]] | None = None
    """The same rows as column batches, where there may be very many. Used when the query has no LIMIT."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(c.name, c.type) for c in self.columns])

    def loads(self, request: Request) -> bool:
        """Whether the query reads a column that needs more than names."""
        return any(c.loads for c in self.columns if c.name in request.columns)

    def read(self, request: Request) -> pa.Table:
        """Returns the rows of a request, with the complete schema: columns that are not requested are NULL."""
        schema = self.schema
        if self.arrays is not None and request.limit is None:
            pieces = self.arrays(request)
            return pa.Table.from_batches((self._piece(p, request, schema) for p in pieces), schema=schema)
        items = self.items(request) if request.limit is None else self._enough(request, request.limit)
        return pa.Table.from_batches((self._batch(chunk, request, schema) for chunk in _chunks(items)), schema=schema)

    def _enough(self, request: Request, limit: int) -> Iterator[R]:
        """Yields the first rows until `limit` of them certainly match: for a name that is NULL or not ASCII the
        predicate is undecided.
        """
        levels = [(c.level, c.value) for c in self.columns if c.level is not None]
        items = iter(self.items(request) if limit else ())
        while limit > 0 and (item := next(items, None)) is not None:
            known = {level: value(item) for level, value in levels}
            texts = {level: name for level, name in known.items() if isinstance(name, str) and name.isascii()}
            limit -= len(texts) == len(known) and request.wanted.may(texts)
            yield item

    def _batch(self, items: list[R], request: Request, schema: pa.Schema) -> pa.RecordBatch:
        arrays = [
            pa.array([c.value(item) for item in items], c.type)
            if c.name in request.columns
            else pa.nulls(len(items), c.type)
            for c in self.columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _piece(self, arrays: Mapping[str, pa.Array], request: Request, schema: pa.Schema) -> pa.RecordBatch:
        rows = len(next(iter(arrays.values())))
        kept = [arrays[c.name] if c.name in request.columns else pa.nulls(rows, c.type) for c in self.columns]
        return pa.RecordBatch.from_arrays(kept, schema=schema)


def _chunks(items: Iterable[R]) -> Iterator[list[R]]:
    source = iter(items)
    while chunk := list(islice(source, BATCH_ROWS)):
        yield chunk


def none(_: object) -> None:
    """The value of a column that is always NULL and exists for clients that read it."""


def always_null(name: str, type: pa.DataType) -> Column[Any]:
    """Returns a column that is always NULL."""
    return Column(name, type, "Always NULL", none)
