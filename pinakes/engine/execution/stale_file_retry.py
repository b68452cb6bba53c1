"""Queries over tables whose files are gone: another engine may have rewritten a table and removed what was there
before, while its description is still remembered here. So what the query read of the caches is forgotten, and it is
planned once more; if a file is missing then, too, the table is damaged.
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
    """Rows that can't be read anew, as some were given out: if files go meanwhile, the next statement does better."""
    try:
        yield from batches
    except DataCorrupt:
        reads.forget()
        raise
