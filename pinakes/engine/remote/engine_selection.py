"""The rules of engine selection: the engine that `SET engine` or a hint in the statement names; with `auto`, by the
bytes that the statement is estimated to read. `engine/commands/select_engine.py` applies them before the statement is
handled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from pinakes.core.engines import ENGINES, HERE, LOCAL, SPARK, Choice
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.iceberg_metadata import summary_value
from pinakes.parser.hints import engine_hint

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.config.settings import Settings
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Statement

T = TypeVar("T")

_KEEPING = re.compile(r"^\s*(?:(?:\w+ )?Join:|Sort:|WindowAggr:|Aggregate: groupBy=\[\[[^\]])", re.MULTILINE)


def wanted_engine(statement: Statement, settings: Settings) -> str:
    """The requested engine. A hint is valid for its statement only."""
    hint = engine_hint(statement.text)
    if hint is None:
        return settings.engine
    if hint not in ENGINES:
        raise InvalidArgument(f"there is no engine {hint!r} for the hint ENGINE(…); available: {', '.join(ENGINES)}")
    return hint


def blocker(execution: Execution) -> str | None:
    """Why no statement of this session can run on a remote engine now; None if it can."""
    session = execution.session
    if session.engine.make_remote is None:
        return "no remote engine is configured"
    if not session.guard.may_use_spark:
        return "this user lacks the privilege `spark`"
    if session.transaction is not None:
        return "a transaction is open, whose changes only this engine sees"
    if session.settings.time_zone != "UTC":
        return f"the session's time zone is {session.settings.time_zone}, and Spark computes in UTC"
    return None


def asked_for(execution: Execution) -> Choice:
    """Spark, as the user asked; an error if that is not possible."""
    execution.session.guard.spark()
    found = blocker(execution)
    if found is not None:
        raise NotSupportedError(f"this statement can't run on Spark: {found}. SET engine = 'local'.")
    return Choice(SPARK, "chosen by SET engine or a hint")


def run_remotely(run: Callable[[], T], execution: Execution) -> T | None:
    """What `run` returns for the remote engine, if that one was selected; None if the statement is to run here. One
    that `auto` sent is never run here as well: it may have been carried out."""
    if execution.engine.engine == LOCAL:
        return None
    try:
        return run()
    except NotSupportedError:
        if not execution.engine.is_automatic or execution.query.engine != LOCAL:
            raise
        return None


def keeps_rows(optimized: LogicalPlan) -> bool:
    """Whether a plan has to hold rows in memory, or else spill them or fail: to join, group or sort them."""
    return _KEEPING.search(optimized.display_indent()) is not None


def limit_of(execution: Execution, *, keeps: bool) -> tuple[int, str]:
    """The bytes that are read here at most, and what they are called."""
    config = execution.session.engine.config
    if keeps and config.engine.memory_limit < config.spark.threshold:
        return config.engine.memory_limit, f"memory limit of {config.engine.memory_limit:,} for rows that are kept"
    return config.spark.threshold, f"threshold of {config.spark.threshold:,}"


def chosen_by_size(planned_bytes: int, execution: Execution, *, keeps: bool) -> Choice:
    """By the bytes that the scans of a statement are planned to read, and whether rows are kept of what is read."""
    hindered = blocker(execution)
    limit, most = limit_of(execution, keeps=keeps)
    read = f"{planned_bytes:,} bytes are planned to be read"
    if planned_bytes <= limit:
        return Choice(LOCAL, f"auto: {read}, not more than the {most}", is_automatic=True)
    if hindered is not None:
        return Choice(LOCAL, f"auto: {read}, more than the {most}, but {hindered}", is_automatic=True)
    return Choice(SPARK, f"auto: {read}, more than the {most}", is_automatic=True)


def explain_choice(wanted: str, planned_bytes: int, execution: Execution, *, keeps: bool) -> Choice:
    """The engine that would run a query which reads so many bytes, for EXPLAIN."""
    if wanted == LOCAL:
        return HERE
    if wanted == SPARK:
        hindered = blocker(execution)
        return Choice(SPARK, "chosen by SET engine or a hint" + (f"; it would fail: {hindered}" if hindered else ""))
    return chosen_by_size(planned_bytes, execution, keeps=keeps)


def size_of(relations: Iterable[Relation]) -> int | None:
    """The bytes of all that relations have, by what their metadata says without being read; None if it does not."""
    total = 0
    for relation in relations:
        if relation.table is not None:
            size = table_size(relation.table)
            if size is None:
                return None
            total += size
        total += sum(file.stamp.size for file in relation.files)
    return total


def table_size(table: IcebergTable) -> int | None:
    snapshot = table.handle.current_snapshot()
    if snapshot is None:
        return 0
    total_size = summary_value(snapshot, "total-files-size")
    return int(total_size) if total_size is not None and str(total_size).isdigit() else None
