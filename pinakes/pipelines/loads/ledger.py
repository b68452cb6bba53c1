"""The ledger: an Iceberg table in the target's catalog that records the loaded files and rows.

Rows are added by compare-and-set: a write depends on what was read, and after a conflict both are repeated. So if two
runs plan concurrently, the second sees the batch of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyiceberg.table import Transaction
from pyiceberg.table.update import SetPropertiesUpdate

from pinakes.core.errors import AlreadyExistsError, NotFoundError
from pinakes.core.names import Name, quote, text_literal
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.load import load
from pinakes.pipelines.loads.history import History, history_of

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.session import Session

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
