"""Finds the local data file that caused an error, since DataFusion does not report it.

The files are read again, one by one and footers first, only after a query has failed in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.core.errors import DataCorrupt, ExecutionError, PinakesError
from pinakes.engine.iceberg.scan.file_integrity import Local

_NAMED = "table "
"""The prefix of an error that already names its table."""
_PARQUET = ("Parquet", "Arrow: Parquet")


@contextmanager
def blaming(files: Sequence[Local], check: Callable[[], None]) -> Iterator[None]:
    """Adds the name of the damaged file to errors of native reads. `check` raises if the query was cancelled."""
    try:
        yield
    except (DataCorrupt, ExecutionError) as error:
        if error.message.startswith(_NAMED) or not _is_of_a_file(error):
            raise
        found = _first_damaged(files, check)
        if found is None:
            raise
        file, reason = found
        raise DataCorrupt(f"table {file.table}: {file.path} cannot be read: {reason}") from error


def _is_of_a_file(error: PinakesError) -> bool:
    return isinstance(error, DataCorrupt) or error.message.startswith(_PARQUET)


def _first_damaged(files: Sequence[Local], check: Callable[[], None]) -> tuple[Local, str] | None:
    for read in (_read_footer, _read_all):
        for file in files:
            check()
            try:
                read(file, check)
            except (OSError, ValueError, pa.ArrowException) as error:
                return file, str(error).splitlines()[0]
    return None


def _read_footer(file: Local, check: Callable[[], None]) -> None:
    file.footer()


def _read_all(file: Local, check: Callable[[], None]) -> None:
    with pq.ParquetFile(file.path) as opened:
        for _ in opened.iter_batches():
            check()
