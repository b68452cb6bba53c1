"""Retries a query once when data files are missing: another engine may have rewritten a table and removed its old
files, while its metadata is still cached here. The cache entries that the query used are dropped, and it is planned
again; if a file is missing then, the table is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pinakes.caches.reads import Reads
from pinakes.core.errors import DataCorrupt

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.engine.planning.plan_cache import Ready


def plan_with_retry(plan: Callable[[Reads], Ready]) -> tuple[Ready, Reads]:
    """What `plan` returns, over files that exist; and what it read of the caches."""
    reads = Reads()
    try:
        found = plan(reads)
        found.plan.check()
    except DataCorrupt:
        if not reads.forget():
            raise
        reads = Reads()
        found = plan(reads)
        found.plan.check()
    return found, reads


def forget_missing_files(batches: Iterator[pa.RecordBatch], reads: Reads) -> Iterator[pa.RecordBatch]:
    """Rows cannot be read again once some were returned. The cache entries are dropped, so that the next statement
    succeeds."""
    try:
        yield from batches
    except DataCorrupt:
        reads.forget()
        raise
