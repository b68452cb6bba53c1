"""Files whose rows all meet a condition, by what the metadata tells: they can go without being read."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.engine.iceberg.scan.deletes import NONE
from pinakes.engine.iceberg.scan.positions import deleted_rows
from pinakes.engine.iceberg.write.rewrite import Rewrite


def whole_files(change: Rewrite, candidates: set[int], condition: str | None) -> set[int]:
    """Those of the candidates in which the condition (None: whatever there is) is true for every row. A file some of
    whose rows are deleted by their values is left out, since nobody has counted these."""
    found = set(candidates)
    if condition is not None and found:
        found -= set(change.wanted(f"{change.sql} WHERE ({condition}\n) IS NOT TRUE"))
    return {number for number in found if not change.files.deletes.get(number, NONE).equality}


def live_rows(change: Rewrite, files: Iterable[int]) -> int:
    """How many rows these files have that are not deleted."""
    return sum(change.files.row_counts[number] - _deleted(change, number) for number in set(files))


def _deleted(change: Rewrite, number: int) -> int:
    positions = change.files.deletes.get(number, NONE).positions
    return len(deleted_rows(change.table, change.cache, change.files.paths[number], positions)) if positions else 0
