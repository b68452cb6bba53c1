"""The cursor of PEP 249: runs statements and returns the rows of the last one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.api.errors import raising
from pinakes.api.executemany import insert_many
from pinakes.api.parameters import Parameters
from pinakes.api.relation import Relation
from pinakes.api.rows import Row, rows_of
from pinakes.api.variables import scopes_of
from pinakes.core.errors import InvalidArgument
from pinakes.engine.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from pinakes.api.connection import Connection

Column = tuple[str, pa.DataType, None, None, int | None, int | None, bool]
"""The seven items of PEP 249: name, type code (the Arrow type), display size, internal size, precision, scale,
nullable."""


class Cursor:
    """For one thread at a time; a connection may have any number of cursors. Rows are streamed: rows that are not
    fetched are not computed."""

    arraysize = 1
    lastrowid = None

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.description: list[Column] | None = None
        self.rowcount = -1
        self._result: Result | None = None
        self._rows: Iterator[Row] | None = None
        self._closed = False

    # --- running --------------------------------------------------------------------------------------------------

    def execute(self, operation: str, parameters: Parameters | None = None) -> Cursor:
        """Runs a statement and returns the cursor; `?` and `$1` take a list or tuple, `:name` a dict."""
        with raising():
            self._open()
            self._show(self.connection.run(operation, parameters, scopes_of(sys._getframe(1))))
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Parameters]) -> Cursor:
        """Runs a statement that changes data, once for each set of parameters. INSERT … VALUES with one row is a single
        commit. Other changes are one transaction where the catalog supports it, otherwise each run is a commit."""
        with raising():
            self._open()
            count = insert_many(self.connection, operation, seq_of_parameters)
            self._show(Result.done("", count))
        return self

    def setinputsizes(self, sizes: object) -> None:
        """Does nothing: the types are those of the values."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing: values are never truncated."""

    # --- fetching -------------------------------------------------------------------------------------------------

    def fetchone(self) -> Row | None:
        with raising():
            return next(self._fetching(), None)

    def fetchmany(self, size: int | None = None) -> list[Row]:
        with raising():
            wanted = self.arraysize if size is None else size
            if wanted < 0:
                raise InvalidArgument(f"{wanted} rows can't be fetched: give a number from 0 on, or call fetchall()")
            return list(islice(self._fetching(), wanted))

    def fetchall(self) -> list[Row]:
        with raising():
            return list(self._fetching())

    def arrow(self) -> pa.Table:
        """Returns all rows as an Arrow table. Like `df` and `pl`, call it before any row was fetched."""
        return self._relation().arrow()

    def df(self) -> pd.DataFrame:
        """Returns all rows as a pandas frame."""
        return self._relation().df()

    def pl(self) -> pl.DataFrame:
        """Returns all rows as a polars frame."""
        return self._relation().pl()

    def _relation(self) -> Relation:
        with raising():
            self._fetching()
            assert self._result is not None
            return Relation(self._result, self.connection)

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> Row:
        with raising():
            return next(self._fetching())

    # --- closing ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the cursor, and cancels a query whose rows were not all fetched."""
        self._forget()
        self._closed = True

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        if self._closed:
            raise InvalidArgument("this cursor was closed: con.cursor() gives another")
        self._forget()

    def _forget(self) -> None:
        if self._result is not None:
            self._result.close()
        self._result, self._rows, self.description, self.rowcount = None, None, None, -1

    def _show(self, result: Result) -> None:
        self._result = result
        self.rowcount = -1 if result.count is None else result.count
        if result.kind == "rows":
            self.description = [_column(field) for field in result.schema]
            self._rows = rows_of(result)

    def _fetching(self) -> Iterator[Row]:
        if self._closed:
            raise InvalidArgument("this cursor was closed: con.cursor() gives another")
        if self._rows is None:
            raise InvalidArgument("no rows to fetch: the last statement did not return rows, or no statement was run")
        return self._rows


def _column(field: pa.Field) -> Column:
    kind = field.type
    digits: tuple[Any, Any] = (kind.precision, kind.scale) if pa.types.is_decimal(kind) else (None, None)
    return (field.name, kind, None, None, *digits, field.nullable)
