"""What is said when a file of a table cannot be read: one error, that names the table and the file."""

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
"""What our own reading of bytes raises when they are not what they should be."""


@contextmanager
def reading(table: IcebergTable, file: str) -> Iterator[None]:
    """While a file is read: what goes wrong is the file's fault, unless the storage says that it is its own, or it is a
    mistake in code of ours, which is told as such."""
    try:
        yield
    except (PinakesError, MemoryError):
        raise
    except Exception as error:
        if not isinstance(error, _OF_DATA) and _is_ours(error):
            raise InternalError(f"{type(error).__name__}: {error}") from error
        asked = f"table {name_of(table)}: {file}"
        raise translate_foreign(error, asked) or DataCorrupt(f"{asked} cannot be read: {_short(error)}") from error


def name_of(table: IcebergTable) -> str:
    """The table as errors name it."""
    return ".".join((*table.namespace, table.name))


def _is_ours(error: Exception) -> bool:
    """Whether it was raised in code of ours. Libraries raise all kinds over a file that is damaged."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__", "")).startswith("pinakes.")


def _short(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:_LONGEST]
