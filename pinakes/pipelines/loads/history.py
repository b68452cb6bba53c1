"""The history of one table in the ledger: its batches with their files, states and snapshots.

A batch is planned, staged (its rows are written but not visible), and done; or it is abandoned. Ledger rows are only
added: the state of a batch is the furthest one recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

PLANNED, STAGED, DONE, ABANDONED = "planned", "staged", "done", "abandoned"
APPEND, REPLACE = "append", "replace"


class Mark(NamedTuple):
    """A file as it was when it was listed: another size or version is another file. `version` is the modification time
    of a local file, or the ETag of an object store."""

    path: str
    size: int
    version: str


@dataclass(frozen=True, slots=True)
class Staged:
    """The staged snapshots of a batch; they are not visible until they are published."""

    snapshot_id: int
    bad_snapshot_id: int | None
    rows: int
    bad_rows: int


@dataclass(slots=True)
class Batch:
    """`base_sequence` is the last sequence number of the table when the batch was planned: its snapshot has a higher
    one."""

    batch: str
    number: int
    generation: int
    mode: str
    base_sequence: int
    run_id: str
    files: list[Mark] = field(default_factory=list)
    cursor_from: str | None = None
    cursor_to: str | None = None
    state: str = PLANNED
    staged: list[Staged] = field(default_factory=list)
    rows: int = 0
    bad_rows: int = 0

    @property
    def is_open(self) -> bool:
        return self.state in (PLANNED, STAGED)


@dataclass(slots=True)
class History:
    """The batches of a table, in the order in which they were planned."""

    batches: list[Batch]

    @property
    def open(self) -> Batch | None:
        """The open batch. There is at most one: a batch is planned only when none is open."""
        return next((b for b in self.batches if b.is_open), None)

    @property
    def generation(self) -> int:
        """The generation grows with each full refresh: files of earlier generations do not count as loaded."""
        return max((b.generation for b in self.batches if b.state != ABANDONED), default=0)

    @property
    def next_number(self) -> int:
        return max((b.number for b in self.batches), default=0) + 1

    def _current(self) -> list[Batch]:
        generation = self.generation
        return [b for b in self.batches if b.state != ABANDONED and b.generation == generation]

    def loaded(self) -> dict[str, Mark]:
        """Returns the files that count as loaded, by path, each in its latest loaded version."""
        return {mark.path: mark for batch in self._current() for mark in batch.files}

    def cursor(self) -> str | None:
        """Returns the cursor value after which the next load of a database begins."""
        found = None
        for batch in self._current():
            found = batch.cursor_to if batch.cursor_to is not None else found
        return found


def history_of(rows: Iterable[Mapping[str, Any]]) -> History:
    """Builds the history from ledger rows in any order."""
    batches: dict[str, Batch] = {}
    ordered = sorted(rows, key=lambda row: (row["number"], _ORDER[row["state"]]))
    for row in ordered:
        batch = batches.get(row["batch"]) or batches.setdefault(row["batch"], _batch(row))
        _apply(batch, row)
    return History(list(batches.values()))


_ORDER = {PLANNED: 0, STAGED: 1, ABANDONED: 2, DONE: 3}


def _batch(row: Mapping[str, Any]) -> Batch:
    plain = ("batch", "number", "generation", "mode", "base_sequence", "run_id", "cursor_from", "cursor_to")
    return Batch(**{key: row[key] for key in plain})


def _apply(batch: Batch, row: Mapping[str, Any]) -> None:
    state = row["state"]
    batch.state = state
    if state == PLANNED and row["path"] is not None:
        batch.files.append(Mark(row["path"], row["size"], row["version"]))
    elif state == STAGED:
        batch.staged.append(Staged(row["snapshot_id"], row["bad_snapshot_id"], row["rows"], row["bad_rows"]))
    elif state == DONE:
        batch.rows, batch.bad_rows = row["rows"], row["bad_rows"]
