"""Which data file of this machine an error is about: DataFusion does not say which one it stumbled over.

Only when a query has failed so are its files read again, one by one: footers first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.core.errors import DataCorrupt, ExecutionError, PinakesError
from pinakes.engine.iceberg.scan.file_integrity import Local

_NAMED = "table "
"""How an error begins that names its table already."""
_PARQUET = ("Parquet", "Arrow: Parquet")


@contextmanager
def blaming(files: Callable[[], Sequence[Local]], check: Callable[[], None]) -> Iterator[None]:
    """While files are read natively: an error of a damaged one names it; `check` raises when the query was stopped."""
    try:
        yield
    except (DataCorrupt, ExecutionError) as error:
        if error.message.startswith(_NAMED) or not _is_of_a_file(error):
            raise
        found = _first_damaged(files(), check)
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
                read(file.path, check)
            except (OSError, pa.ArrowException) as error:
                return file, str(error).splitlines()[0]
    return None


def _read_footer(path: str, check: Callable[[], None]) -> None:
    pq.read_metadata(path)


def _read_all(path: str, check: Callable[[], None]) -> None:
    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches():
            check()
