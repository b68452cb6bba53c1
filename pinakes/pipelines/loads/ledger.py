"""The ledger: an Iceberg table in the target's catalog that records the batches of each load, their files and rows.

A batch is planned, staged (its rows are written but not visible), and done; or it is abandoned. Ledger rows are only
added: the state of a batch is the furthest one recorded. Rows are added by compare-and-set: a write depends on what was
read, and after a conflict both are repeated. So if two runs plan concurrently, the second sees the batch of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
from pyiceberg.table import Transaction
from pyiceberg.table.update import SetPropertiesUpdate

from pinakes.core.errors import AlreadyExistsError, NotFoundError
from pinakes.core.names import Name, quote, text_literal
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.load import load

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.session import Session

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


# --- the table -----------------------------------------------------------------------------------------------------

SCHEMA, TABLE = "pinakes_pipeline", "loads"
_TURN = "pinakes.loads.turn"
_COLUMNS: Sequence[tuple[str, str, pa.DataType, str]] = (
    ("target", "VARCHAR", pa.string(), "Schema and name of the table that is loaded"),
    ("table_uuid", "VARCHAR", pa.string(), "UUID of the table: one that was re-created is empty"),
    ("batch", "VARCHAR", pa.string(), "What is loaded by one commit; wap.id of its snapshots"),
    ("number", "BIGINT", pa.int64(), "The batches of a table in their order"),
    ("generation", "BIGINT", pa.int64(), "Grows when everything is loaded again"),
    ("mode", "VARCHAR", pa.string(), "append, or replace: the rows take the place of all others"),
    ("state", "VARCHAR", pa.string(), "planned, staged, done or abandoned"),
    ("path", "VARCHAR", pa.string(), "A file of the batch, one row each when it is planned"),
    ("size", "BIGINT", pa.int64(), "Its bytes"),
    ("version", "VARCHAR", pa.string(), "When it was changed last, in nanoseconds, or its ETag"),
    ("cursor_from", "VARCHAR", pa.string(), "Of a database: rows beyond this value"),
    ("cursor_to", "VARCHAR", pa.string(), "and up to this one"),
    ("base_sequence", "BIGINT", pa.int64(), "The table's last sequence number when the batch was planned"),
    ("snapshot_id", "BIGINT", pa.int64(), "The snapshot that has the rows"),
    ("bad_snapshot_id", "BIGINT", pa.int64(), "The snapshot of the table of bad records"),
    ("rows", "BIGINT", pa.int64(), "Rows that were loaded"),
    ("bad_rows", "BIGINT", pa.int64(), "Records that were not"),
    ("run_id", "VARCHAR", pa.string(), "The run of the pipeline"),
    ("at", "TIMESTAMP WITH TIME ZONE", pa.timestamp("us", "UTC"), "When this was written"),
)
ARROW = pa.schema([(name, type) for name, _, type, _ in _COLUMNS])

Answer = TypeVar("Answer")
Event = dict[str, Any]
Decision = Callable[[History], tuple[Sequence[Event], Answer]]


class Ledger:
    """The ledger of one mounted catalog, with the privileges of the session's user."""

    def __init__(self, session: Session, alias: str) -> None:
        self._session = session
        self._alias = alias
        self._name = Name.of(alias, SCHEMA, TABLE)
        self._sql = ".".join(map(quote, (alias, SCHEMA, TABLE)))

    def location(self) -> str:
        """Returns the location of the ledger table; creates it if necessary."""
        return self._opened()[1].handle.metadata.location

    def history(self, target: str, uuid: str) -> History:
        """Returns the history of a table; empty if there is no ledger."""
        try:
            _, table = self._session.resolver.described(self._name)
        except NotFoundError:
            return History([])
        return self._history(table, target, uuid)

    def decide(self, target: str, uuid: str, run_id: str, decision: Decision[Answer]) -> Answer:
        """Adds the events that `decision` derives from the history; after a concurrent change it decides again."""
        found, _ = self._opened()

        def change() -> Answer:
            table = self._session.resolver.fresh(found)
            events, answer = decision(self._history(table, target, uuid))
            if events:
                values = {"target": target, "table_uuid": uuid, "run_id": run_id, "at": datetime.now(UTC)}
                self._add(table, found, [{**event, **values} for event in events])
            return answer

        return again(change, found)

    def _add(self, table: IcebergTable, found: ResolvedTable, events: Sequence[Event]) -> None:
        rows = pa.RecordBatch.from_pylist([{k: event.get(k) for k in ARROW.names} for event in events], schema=ARROW)
        turn = {_TURN: f"{events[0]['batch']}:{events[0]['state']}"}

        def hold(transaction: Transaction) -> None:
            """Sets a table property, so that the commit is never re-applied to another state of the table."""
            transaction._apply((SetPropertiesUpdate(updates=turn),))

        load(table, found, [rows], lambda: None, hold)

    def _history(self, table: IcebergTable, target: str, uuid: str) -> History:
        snapshot = table.handle.metadata.current_snapshot_id
        if snapshot is None:
            return History([])
        sql = (
            f"SELECT /*+ ENGINE(local) */ * FROM {self._sql} FOR VERSION AS OF {snapshot} "
            f"WHERE target = {text_literal(target)} AND table_uuid = {text_literal(uuid)}"
        )
        return history_of(self._session.run(sql, queues=False).read_all().to_pylist())

    def _opened(self) -> tuple[ResolvedTable, IcebergTable]:
        try:
            return self._session.resolver.table(self._name)
        except NotFoundError:
            self._make()
            return self._session.resolver.table(self._name)

    def _make(self) -> None:
        columns = ", ".join(f"{quote(name)} {type} COMMENT {text_literal(doc)}" for name, type, _, doc in _COLUMNS)
        statements: Iterable[str] = (
            f"CREATE SCHEMA IF NOT EXISTS {quote(self._alias)}.{quote(SCHEMA)}",
            f"CREATE TABLE IF NOT EXISTS {self._sql} ({columns})",
        )
        for statement in statements:
            try:
                self._session.run(statement, queues=False).read_all()
            except AlreadyExistsError:
                continue  # created concurrently
