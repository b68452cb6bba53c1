"""Adds file names to errors: of a file that was changed meanwhile, or that DataFusion could not read.

DataFusion does not report which Parquet file failed. If there are several, they are read again one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pinakes.core.errors import DataCorrupt, PinakesError, QueryCanceled, QueryTimeout, listing
from pinakes.engine.files.paths import File
from pinakes.engine.files.stamps import check_unchanged

_PARQUET = ("Parquet argument error: ", "Parquet error: ")


@contextmanager
def attribute_errors(files: Sequence[File], check: Callable[[], None]) -> Iterator[None]:
    """Adds the file name to errors of the block."""
    try:
        yield
    except (QueryCanceled, QueryTimeout):
        raise
    except PinakesError as error:
        try:
            check_unchanged(files)
        except DataCorrupt as changed:
            raise changed from error
        if not error.message.startswith(_PARQUET):
            raise
        raise DataCorrupt(f"{_find_broken(files, check)} can not be read: {_reason(error.message)}") from error


def _find_broken(files: Sequence[File], check: Callable[[], None]) -> str:
    """Returns the first file that cannot be read to its end; if none is found, all candidates."""
    from pinakes.core.file_formats import format_of
    from pinakes.engine.files.reading.parquet import is_broken

    native = [file for file in files if file.is_local]  # Arrow's errors name the others
    maybe = [file for file in native if format_of(file.path) in ("parquet", None)] or native
    found = next((file for file in maybe if len(maybe) == 1 or is_broken(file, check)), None)
    return str(found) if found is not None else f"a file of {listing(map(str, maybe))}"


def _reason(message: str) -> str:
    line = message.splitlines()[0]
    for layer in (*_PARQUET, "External: "):
        line = line.removeprefix(layer)
    return line[:300]
