"""Records of runs: Iceberg tables in the catalog of the pipeline, written by this process and not by Spark.

The records of one table are one transaction, where the catalog supports it; otherwise its row in `tables` is written
last, so that a visible record is complete.
"""

from __future__ import annotations

import getpass
import os
import random
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import CommitConflict, InvalidArgument, NotSupportedError
from pinakes.core.names import dotted, quote
from pinakes.core.pipeline_records import NAMESPACE, RECORDS

if TYPE_CHECKING:
    from pinakes.engine.session import Session
    from pinakes.pipelines.project.model import Key
    from pinakes.pipelines.runs.step import Made

_TYPES = {"TEXT": "VARCHAR", "NUMBER": "BIGINT", "TRUTH": "BOOLEAN", "MOMENT": "TIMESTAMP(6) WITH TIME ZONE"}
RUNNING, COMPLETED, FAILED, CANCELED = "RUNNING", "COMPLETED", "FAILED", "CANCELED"
_TIMES = 20
"""Maximum number of attempts to write records after conflicts."""
INTERRUPTED, SKIPPED, UNCHANGED = "INTERRUPTED", "SKIPPED", "UNCHANGED"


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The result of a table in a run."""

    key: Key
    kind: str
    state: str
    started: datetime
    made: Made
    definition: str
    file: str
    error: str | None = None


class Records:
    """The records of one pipeline."""

    def __init__(self, session: Session, catalog: str, pipeline: str) -> None:
        self._session = session
        self._schema = f"{quote(catalog)}.{quote(NAMESPACE[0])}"
        self.pipeline = pipeline

    def prepare(self) -> None:
        self._do(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        for name, fields in RECORDS.items():
            columns = ", ".join(f"{quote(f.name)} {_TYPES[f.type]}" for f in fields)
            self._do(f"CREATE TABLE IF NOT EXISTS {self._table(name)} ({columns})")

    def begin(self, run_id: str, spec: str, options: str) -> None:
        """Records the start of a run. An unfinished run whose process has ended is marked as interrupted; a running one
        on this machine is an error."""
        for other, host, process in self._running():
            if host == socket.gethostname() and _is_alive(process):
                raise InvalidArgument(
                    f"the pipeline {self.pipeline!r} is running already (run {other}, process "
                    f"{process.split(':')[0]} of this machine): wait for it, or stop it."
                )
            self.end(other, INTERRUPTED, "its process ended before it did; run the pipeline again")
        row = {
            "run_id": run_id,
            "state": RUNNING,
            "started_at": datetime.now(UTC),
            "user_name": self._session.identity.user or getpass.getuser(),
            "host": socket.gethostname(),
            "process": _mark(os.getpid()),
            "spec": spec,
            "options": options,
        }
        self._insert("runs", [row])

    def resume(self, run_id: str) -> None:
        self._do(
            f"UPDATE {self._table('runs')} SET state = $1, ended_at = NULL, error = NULL, host = $2, process = $3 "
            f"WHERE run_id = $4",
            [RUNNING, socket.gethostname(), _mark(os.getpid()), run_id],
        )

    def end(self, run_id: str, state: str, error: str | None) -> None:
        self._do(
            f"UPDATE {self._table('runs')} SET state = $1, ended_at = $2, error = $3 WHERE run_id = $4",
            [state, datetime.now(UTC), error, run_id],
        )

    def unfinished(self) -> str | None:
        """Returns the last run, if it did not complete."""
        sql = f"SELECT run_id, state FROM {self._table('runs')} WHERE pipeline = $1 ORDER BY started_at DESC LIMIT 1"
        found = self._do(sql, [self.pipeline])
        return found[0]["run_id"] if found and found[0]["state"] != COMPLETED else None

    def add(self, run_id: str, record: TableRecord) -> None:
        """Adds all records of a table at once."""
        now, made = datetime.now(UTC), record.made
        table = {
            "run_id": run_id,
            "table_catalog": record.key[0],
            "table_schema": dotted(record.key[1:-1]),
            "table_name": record.key[-1],
        }
        expectations = [
            {
                **table,
                "expectation": o.expectation.name,
                "predicate": o.expectation.predicate,
                "action": o.expectation.action,
                "passed_rows": o.passed,
                "failed_rows": o.failed,
                "recorded_at": now,
            }
            for o in made.outcomes
        ]
        row = {
            **table,
            "kind": record.kind,
            "state": record.state,
            "started_at": record.started,
            "ended_at": now,
            "rows": made.rows,
            "bad_rows": made.bad_rows,
            "files": made.files,
            "snapshot_id": made.snapshot,
            "definition": record.definition,
            "file": record.file,
            "error": record.error,
        }
        lineage = [{**table, **_input(i), "recorded_at": now} for i in made.inputs]
        self._together([("expectations", expectations), ("lineage", lineage), ("tables", [row])])

    # --- statements ------------------------------------------------------------------------------------------------

    def _together(self, changes: Sequence[tuple[str, list[dict[str, Any]]]]) -> None:
        """Writes the records; retries after conflicts with other pipelines."""
        wanted = [(name, rows) for name, rows in changes if rows]
        for _ in range(_TIMES - 1):
            try:
                return self._at_once(wanted)
            except CommitConflict:
                time.sleep(random.uniform(0, 0.2))  # random, so that two writers do not collide again
        return self._at_once(wanted)

    def _at_once(self, wanted: Sequence[tuple[str, list[dict[str, Any]]]]) -> None:
        self._do("BEGIN")
        try:
            for name, rows in wanted:
                self._insert(name, rows)
        except NotSupportedError:  # a catalog without transactions over several tables
            self._do("ROLLBACK")
            for name, rows in wanted:
                self._insert(name, rows)
            return
        except BaseException:
            self._do("ROLLBACK")
            raise
        self._do("COMMIT")

    def _insert(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        fields = RECORDS[name]
        values: list[Any] = []
        tuples = []
        for row in rows:
            marks = []
            for field in fields:
                values.append(self.pipeline if field.name == "pipeline" else row.get(field.name))
                marks.append(f"CAST(${len(values)} AS {_TYPES[field.type]})")
            tuples.append(f"({', '.join(marks)})")
        columns = ", ".join(quote(f.name) for f in fields)
        self._do(f"INSERT INTO {self._table(name)} ({columns}) VALUES {', '.join(tuples)}", values)

    def _running(self) -> list[tuple[str, str, str]]:
        sql = f"SELECT run_id, host, process FROM {self._table('runs')} WHERE pipeline = $1 AND state = $2"
        return [(r["run_id"], r["host"], r["process"]) for r in self._do(sql, [self.pipeline, RUNNING])]

    def _table(self, name: str) -> str:
        return f"{self._schema}.{quote(name)}"

    def _do(self, sql: str, parameters: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._session.run(sql, parameters).read_all().to_pylist()
        return found


def _input(found: Any) -> dict[str, Any]:
    is_table = found.kind == "table"
    return {
        "flow": found.flow,
        "source_kind": found.kind,
        "source_catalog": found.source[0] if is_table else None,
        "source_schema": dotted(found.source[1:-1]) if is_table else None,
        "source_name": found.source[-1],
        "from_snapshot_id": found.from_snapshot,
        "snapshot_id": found.snapshot,
    }


def _mark(process: int) -> str:
    """Returns an id of a process that distinguishes it from a later one with the same number."""
    try:
        began = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return str(process)
    return f"{process}:{began}"


def _is_alive(mark: str) -> bool:
    process = int(mark.split(":")[0])
    if process == os.getpid():
        return False  # runs are sequential here: an earlier one has ended
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _mark(process) == mark
