"""Retries a query once when data files are missing: another engine may have rewritten a table and removed its old
files, while its metadata is still cached here. The cache entries that the query used are dropped, and it is planned
again; if a file is missing then, the table is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from pinakes.caches.reads import Reads
from pinakes.core.errors import DataCorrupt
from pinakes.engine.pushdown.scan_pushdown import Plans

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.engine.statement_context import Execution

T = TypeVar("T")


def planned(plan: Callable[[Reads], T], execution: Execution) -> tuple[T, Reads]:
    """What `plan` gives, of files that are there; and what it read of the caches."""
    reads = Reads()
    try:
        found = plan(reads)
        execution.plans.check_first()
    except DataCorrupt:
        if not reads.forget():
            raise
    else:
        return found, reads
    execution.plans, reads = Plans(), Reads()
    execution.files.clear()
    return plan(reads), reads


def watched(batches: Iterator[pa.RecordBatch], reads: Reads) -> Iterator[pa.RecordBatch]:
    """Rows cannot be read again once some were returned. The cache entries are dropped, so that the next statement
    succeeds."""
    try:
        yield from batches
    except DataCorrupt:
        reads.forget()
        raise
