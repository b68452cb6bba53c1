"""Pinakes: a SQL query engine whose catalog is its API.

    con = pinakes.connect()
    con.sql("SELECT 42 AS answer").df()

The module follows PEP 249 (`docs/how-to/query-from-python.md`). Its exports are loaded on first use, so that
importing it costs nothing. To read the code, start at `docs/architecture.md`, then `pinakes/engine/run.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.core.version import __version__ as __version__

if TYPE_CHECKING:
    from pinakes.api.connection import Connection, connect
    from pinakes.api.cursor import Cursor
    from pinakes.api.dbapi_types import (
        BINARY,
        DATETIME,
        NUMBER,
        ROWID,
        STRING,
        Binary,
        Date,
        DateFromTicks,
        Time,
        TimeFromTicks,
        Timestamp,
        TimestampFromTicks,
    )
    from pinakes.api.errors import (
        DatabaseError,
        DataError,
        Error,
        IntegrityError,
        InterfaceError,
        InternalError,
        NotSupportedError,
        OperationalError,
        ProgrammingError,
        Warning,
    )
    from pinakes.api.relation import Relation

apilevel = "2.0"
threadsafety = 2
"""Threads may share the module and connections."""
paramstyle = "qmark"
"""`?` with a list or tuple; `$1`, and `:name` with a dict, are understood as well."""

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Relation",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

_HOMES = {"connect": "connection", "Connection": "connection", "Cursor": "cursor", "Relation": "relation"}
"""Where each name comes from; all others are types (written in capitals, or constructors) and exceptions."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    errors = import_module("pinakes.api.errors")
    home = _HOMES.get(name, "errors" if hasattr(errors, name) else "dbapi_types")
    found = globals()[name] = getattr(import_module(f"pinakes.api.{home}"), name)
    return found


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext pinakes` calls this: `%sql` and `%%sql` (docs/how-to/use-notebooks.md)."""
    from pinakes.notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext pinakes` calls this."""
    from pinakes.notebook import unload

    unload(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
