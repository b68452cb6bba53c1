"""Which file an error is about: one that was changed meanwhile, or one that DataFusion could not read.

DataFusion does not say which Parquet file it stumbled over. Where there are several, they are read again one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pinakes.core.errors import DataCorrupt, PinakesError, QueryCanceled, QueryTimeout, listing
from pinakes.engine.files.paths import File
from pinakes.engine.files.stamps import check_unchanged

_PARQUET = ("Parquet argument error: ", "Parquet error: ")


@contextmanager
def blaming(files: Sequence[File], check: Callable[[], None]) -> Iterator[None]:
    """Errors within the block name the file that they are about."""
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
        raise DataCorrupt(f"{_broken(files, check)} can not be read: {_reason(error.message)}") from error


def _broken(files: Sequence[File], check: Callable[[], None]) -> str:
    """The first file that can't be read to its end; if none is found, all that it may be."""
    from pinakes.core.file_formats import format_of
    from pinakes.engine.files.parquet import is_broken

    native = [file for file in files if file.is_local]  # others are read by Arrow, whose errors name them
    maybe = [file for file in native if format_of(file.path) in ("parquet", None)] or native
    found = next((file for file in maybe if len(maybe) == 1 or is_broken(file, check)), None)
    return str(found) if found is not None else f"a file of {listing(map(str, maybe))}"


def _reason(message: str) -> str:
    line = message.splitlines()[0]
    for layer in (*_PARQUET, "External: "):
        line = line.removeprefix(layer)
    return line[:300]
