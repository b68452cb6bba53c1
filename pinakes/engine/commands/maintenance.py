"""Table maintenance: CALL, ALTER TABLE … EXECUTE, ANALYZE."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError, ProcedureNotFound, listing
from pinakes.engine.iceberg.write.assignments import target_columns
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.parquet.layout import MB, TARGET_SIZE
from pinakes.engine.procedures.base import Parameter, Procedure, Signature, Work
from pinakes.engine.procedures.call import carried_out, given_to, run
from pinakes.engine.procedures.compute_table_stats import PROCEDURE
from pinakes.engine.procedures.registry import procedure
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Analyze, Call, TableExecute


def call(statement: Call, execution: Execution) -> Result:
    """CALL [catalog.]system.procedure(value, name => value, …), CALL system.runtime.procedure(…): runs a procedure and
    returns its result as rows.
    """
    return run(statement, execution)


_SIZES = {"b": 1, "kb": 1024, "mb": MB, "gb": 1024 * MB, "tb": 1024 * 1024 * MB}
_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")

Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Executable:
    """A procedure of Trino, and the procedure here that does the same."""

    signature: Signature
    does: str
    arguments: Callable[[Given, Mapping[str, str], datetime], dict[str, Any]]
    """The arguments of the procedure here, from those given, the table's properties and the time."""


def table_execute(statement: TableExecute, execution: Execution) -> Result:
    """ALTER TABLE [IF EXISTS] table EXECUTE procedure [(name => value, …)] [WHERE condition]: runs a maintenance
    procedure, with the syntax of Trino.

    Procedures are optimize [(file_size_threshold => '100MB')] [WHERE …], optimize_manifests, expire_snapshots
    [(retention_threshold => '7d', retain_last => 1)] and remove_orphan_files [(retention_threshold => '7d', dry_run =>
    false)].
    """
    chosen = _executable(statement)
    does = procedure_executed(statement)
    if statement.if_exists and execution.resolver.maybe(statement.name, kind="TABLE") is None:
        return Result.rows(does.columns, [])
    if execution.session.transaction is not None:
        raise NotSupportedError(
            f"{chosen.signature.name} can't be part of a transaction: ROLLBACK, and run it outside of one"
        )
    if statement.where is not None and all(p.name != "where" for p in does.parameters):
        raise InvalidArgument(f"{chosen.signature.name} is about the whole table: leave out WHERE")
    given = given_to(chosen.signature, statement, execution)
    found = execution.resolver.find(statement.name, kind="TABLE")
    return Result.rows(
        does.columns, again(lambda: _run_table_execute(statement, does, chosen, given, execution), found)
    )


def procedure_executed(statement: TableExecute) -> Procedure:
    """The procedure here that does the same."""
    does = procedure(_executable(statement).does)
    assert isinstance(does, Procedure)
    return does


def _run_table_execute(
    statement: TableExecute, does: Procedure, chosen: _Executable, given: Given, execution: Execution
) -> list[tuple[object, ...]]:
    found, table = execution.resolver.table(statement.name)
    execution.query.touch(found.place.mount.name)
    now = datetime.now(UTC)
    arguments = chosen.arguments(given, table.handle.properties, now)
    if statement.where is not None:
        arguments["where"] = statement.where.of(statement.text)
    return carried_out(does, Work(found, table, arguments, now, execution))


def _executable(statement: TableExecute) -> _Executable:
    found = _EXECUTABLES.get(statement.procedure.exact.lower())
    if found is None:
        raise ProcedureNotFound(
            f"ALTER TABLE … EXECUTE has no command {statement.procedure}; available: {listing(_EXECUTABLES)}"
        )
    return found


# --- arguments -------------------------------------------------------------------------------------------------------


def _amount(name: str, text: str, units: Mapping[str, float]) -> float:
    found = _AMOUNT.fullmatch(text)
    if found is None or found[2].lower() not in units:
        raise InvalidArgument(f"{name} is a number with a unit ({', '.join(units)}), not {text!r}")
    return float(found[1]) * units[found[2].lower()]


def _optimize_arguments(given: Given, properties: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """All files below the threshold, if a partition has two, and those with deleted rows."""
    least = int(_amount("file_size_threshold", given.get("file_size_threshold") or "100MB", _SIZES))
    target = max(int(properties.get(TARGET_SIZE, 512 * MB)), least + 1)
    options = {
        "target-file-size-bytes": target,
        "min-file-size-bytes": least,
        "max-file-size-bytes": 2**62,
        "min-input-files": 2,
        "delete-file-threshold": 1,
    }
    return {"options": {key: str(value) for key, value in options.items()}}


def _older_than(given: Given, now: datetime) -> datetime:
    seconds = _amount("retention_threshold", given.get("retention_threshold") or "7d", _TIMES)
    return now - timedelta(seconds=seconds)


def _expire_arguments(given: Given, properties: Mapping[str, str], now: datetime) -> dict[str, Any]:
    return {"older_than": _older_than(given, now), "retain_last": given.get("retain_last")}


def _remove_arguments(given: Given, properties: Mapping[str, str], now: datetime) -> dict[str, Any]:
    return {"older_than": _older_than(given, now), "dry_run": given.get("dry_run")}


_RETENTION = Parameter("retention_threshold", "text")
_EXECUTABLES: dict[str, _Executable] = {
    found.signature.name: found
    for found in (
        _Executable(
            Signature("optimize", (Parameter("file_size_threshold", "text"),), pa.schema([])),
            "rewrite_data_files",
            _optimize_arguments,
        ),
        _Executable(Signature("optimize_manifests", (), pa.schema([])), "rewrite_manifests", lambda *_: {}),
        _Executable(
            Signature("expire_snapshots", (_RETENTION, Parameter("retain_last", "integer")), pa.schema([])),
            "expire_snapshots",
            _expire_arguments,
        ),
        _Executable(
            Signature("remove_orphan_files", (_RETENTION, Parameter("dry_run", "boolean")), pa.schema([])),
            "remove_orphan_files",
            _remove_arguments,
        ),
    )
}


def analyze(statement: Analyze, execution: Execution) -> Result:
    """ANALYZE [TABLE] table [(columns)], ANALYZE TABLE table COMPUTE STATISTICS [FOR COLUMNS …]: estimates the number
    of distinct values of columns and stores it in the metadata of the table.
    """
    if execution.session.transaction is not None:
        raise NotSupportedError("ANALYZE can't be part of a transaction: ROLLBACK, and run it outside of one")
    found, table = execution.resolver.table(statement.table)
    execution.query.touch(found.place.mount.name)
    columns = target_columns(statement.columns, [field.name for field in table.handle.schema().fields])
    if statement.scans:
        carried_out(PROCEDURE, Work(found, table, {"columns": columns or None}, datetime.now(UTC), execution))
    return Result.done("ANALYZE")
