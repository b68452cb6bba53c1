"""Finds files whose rows all satisfy a predicate according to metadata: they can be removed without being read."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.engine.iceberg.scan.deletes import NONE
from pinakes.engine.iceberg.scan.positions import deleted_rows
from pinakes.engine.iceberg.write.rewrite import Rewrite


def fully_deleted_files(change: Rewrite, candidates: set[int], condition: str | None) -> set[int]:
    """Returns the candidates in which the predicate (None: always true) is true for every row.

    Files with equality deletes are left out, since the number of their deleted rows is unknown.
    """
    found = set(candidates)
    if condition is not None and found:
        found -= set(change.wanted(f"{change.sql} WHERE ({condition}\n) IS NOT TRUE"))
    return {number for number in found if not change.files.deletes.get(number, NONE).equality}


def live_rows(change: Rewrite, files: Iterable[int]) -> int:
    """Returns the number of live rows of these files."""
    return sum(change.files.row_counts[number] - _deleted(change, number) for number in set(files))


def _deleted(change: Rewrite, number: int) -> int:
    positions = change.files.deletes.get(number, NONE).positions
    return len(deleted_rows(change.table, change.cache, change.files.paths[number], positions)) if positions else 0
