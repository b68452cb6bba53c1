"""Selects the files of a snapshot to rewrite together, by Iceberg's bin-packing rules and from metadata only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pinakes.engine.iceberg.maintenance.options import Choice
from pinakes.engine.iceberg.scan.deletes import NONE

if TYPE_CHECKING:
    from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles

Group = list[int]
"""The numbers of files of one partition."""


def groups(files: SnapshotFiles, candidates: Iterable[int], choice: Choice, spec_id: int) -> list[Group]:
    """Returns groups of files to rewrite. Files of another spec than `spec_id` form one group: their rows are
    repartitioned.
    """
    by_partition: dict[object, Group] = defaultdict(list)
    for number in candidates:
        if choice.everything or _is_wanting(files, number, choice):
            by_partition[_partition(files, number, spec_id)].append(number)
    packed = [group for numbers in by_partition.values() for group in _packed(files, numbers, choice.group)]
    return [group for group in packed if choice.everything or _is_worth_it(files, group, choice)]


def _partition(files: SnapshotFiles, number: int, spec_id: int) -> object:
    spec, values = files.partition(number)
    return repr(values) if spec == spec_id else None


def _is_wanting(files: SnapshotFiles, number: int, choice: Choice) -> bool:
    return not choice.least <= files.sizes[number] <= choice.greatest or _has_many_deletes(files, number, choice)


def _has_many_deletes(files: SnapshotFiles, number: int, choice: Choice) -> bool:
    deletes = files.deletes.get(number, NONE)
    if not deletes:
        return False
    own = sum(file.record_count for file in deletes.positions if file.target is not None)
    return len(deletes.files) >= choice.most_deletes or own >= choice.deleted_share * files.row_counts[number]


def _packed(files: SnapshotFiles, numbers: Sequence[int], most: int) -> list[Group]:
    """Packs files in their order into groups of at most `most` bytes."""
    found: list[Group] = []
    size = 0
    for number in numbers:
        if not found or size + files.sizes[number] > most:
            found.append([])
            size = 0
        found[-1].append(number)
        size += files.sizes[number]
    return found


def _is_worth_it(files: SnapshotFiles, group: Group, choice: Choice) -> bool:
    size = sum(files.sizes[number] for number in group)
    return (
        (len(group) > 1 and (len(group) >= choice.together or size > choice.target))
        or size > choice.greatest
        or any(_has_many_deletes(files, number, choice) for number in group)
    )
