"""Translates read errors into one error that names the table and the file."""

from __future__ import annotations

import struct
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import DataCorrupt, InternalError, PinakesError
from pinakes.providers.foreign_errors import translate_foreign

_LONGEST = 500
_OF_DATA = (OSError, ValueError, LookupError, EOFError, ArithmeticError, struct.error, pa.ArrowException)
"""Exceptions of our own decoders for malformed data."""


@contextmanager
def reading(table: IcebergTable, file: str) -> Iterator[None]:
    """Translates errors while a file is read: the file is reported as damaged, unless the storage failed or the error
    is a bug in our code.
    """
    try:
        yield
    except (PinakesError, MemoryError):
        raise
    except Exception as error:
        if not isinstance(error, _OF_DATA) and _is_ours(error):
            raise InternalError(f"{type(error).__name__}: {error}") from error
        where = f"table {name_of(table)}: {file}"
        raise translate_foreign(error, where) or DataCorrupt(f"{where} cannot be read: {_short(error)}") from error


def name_of(table: IcebergTable) -> str:
    """Returns the table's name for error messages."""
    return ".".join((*table.namespace, table.name))


def _is_ours(error: Exception) -> bool:
    """Returns whether our code raised the error. Libraries raise many kinds of errors for damaged files."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__", "")).startswith("pinakes.")


def _short(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:_LONGEST]
