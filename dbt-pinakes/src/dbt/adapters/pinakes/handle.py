"""One connection to the server: a session of its own, statements in autocommit, and a way to stop what runs.

Each statement of Pinakes is one commit, so there is no transaction for dbt to open: in most catalogs DDL can't be part
of one. dbt keeps a connection per thread, and a handle is used by that thread alone, but for `cancel`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa
from adbc_driver_flightsql import dbapi
from adbc_driver_manager import Error

from dbt.adapters.pinakes.credentials import PinakesCredentials
from dbt.adapters.pinakes.script import statements

_LASTING = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?P<word>set|reset|use|begin|start|attach|detach)\b\s*(?P<name>\w+)?",
    re.DOTALL | re.IGNORECASE,
)


class Handle:
    """What dbt calls the handle of a connection."""

    def __init__(self, credentials: PinakesCredentials) -> None:
        self._connection = dbapi.connect(credentials.uri, db_kwargs=credentials.driver_options(), autocommit=True)
        with self._connection.cursor() as cursor:
            cursor.execute(f'use "{credentials.database}"')
        self._running: Any = None
        self._lasting: set[str] = set()
        self.broken = False
        """Set when the server is gone or refuses us; such a handle is not used again."""

    @property
    def is_as_opened(self) -> bool:
        """Whether the next model may have this session: it works, and nothing was set in it that is still set."""
        return not self.broken and not self._lasting

    def note(self, statement: str) -> None:
        """Remember what outlasts a statement: SET until its RESET, and what else changes a session."""
        found = _LASTING.match(statement)
        if found is None:
            return
        word, name = found["word"].lower(), (found["name"] or "").lower()
        if word == "reset":
            self._lasting.discard(name)
        else:
            self._lasting.add(name if word == "set" else word)

    def cursor(self) -> Cursor:
        return Cursor(self)

    @contextmanager
    def running(self) -> Iterator[Any]:
        """A cursor of the driver, which `cancel` stops while it is used."""
        cursor = self._running = self._connection.cursor()
        try:
            yield cursor
        finally:
            self._running = None
            with suppress(Error):  # the server has answered, or it is gone: then the statement has said so
                cursor.close()

    def ingest(self, name: str, rows: pa.Table) -> None:
        """Load rows into a temporary table of the session, in one stream; one that has the name is replaced."""
        with self.running() as cursor:
            cursor.adbc_ingest(name, rows, mode="replace", temporary=True)

    def cancel(self) -> None:
        """Stop the statement that runs, from another thread."""
        running = self._running
        if running is not None:
            running.adbc_cancel()

    def close(self) -> None:
        self._connection.close()

    def commit(self) -> None:
        """Each statement has committed already."""

    def rollback(self) -> None:
        """Nothing is open that could be rolled back."""


class Cursor:
    """A DB-API cursor that takes several statements, whose last one has the result."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self.description: list[tuple[str, pa.DataType]] | None = None
        self.rowcount = -1

    def execute(self, sql: str, bindings: Any = None) -> None:
        self.description, self._rows, self.rowcount = None, iter(()), -1
        for statement in statements(sql):
            self._handle.note(statement)
            self._one(statement, bindings)

    def _one(self, statement: str, bindings: Any) -> None:
        with self._handle.running() as cursor:
            cursor.execute(statement, bindings)
            self.rowcount = cursor.rowcount
            described = cursor.description
            table = cursor.fetch_arrow_table() if described else None
        self.description = [(name, kind) for name, kind, *_ in described] if described else None
        self._rows = _python_rows(table) if table is not None else iter(())

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._rows, None)

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        return [row for _, row in zip(range(size), self._rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._rows)

    def close(self) -> None:
        self._rows = iter(())


def _python_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    columns = [_plain(column).to_pylist() for column in table.columns]
    return iter(list(zip(*columns, strict=True)))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Python's times have microseconds: what is finer is cut."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return column.cast(pa.time64("us"), safe=False)
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return column.cast(pa.duration("us"), safe=False)
    return column
