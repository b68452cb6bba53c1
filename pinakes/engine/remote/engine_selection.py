"""Engine selection: the engine that `SET engine` or a hint in the statement names; with `auto`, by the bytes that the
statement is estimated to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.snapshots import said
from pinakes.parser.hints import engine_hint

if TYPE_CHECKING:
    from datafusion.plan import LogicalPlan

    from pinakes.core.catalog import IcebergTable
    from pinakes.core.settings import Settings
    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Statement

LOCAL, SPARK, AUTO = "local", "spark", "auto"
ENGINES = (LOCAL, SPARK, AUTO)


_KEEPING = re.compile(r"^\s*(?:(?:\w+ )?Join:|Sort:|WindowAggr:|Aggregate: groupBy=\[\[[^\]])", re.MULTILINE)


class Choice(NamedTuple):
    engine: str
    why: str


def wanted_engine(statement: Statement, settings: Settings) -> str:
    """The requested engine. A hint is valid for its statement only."""
    return wanted_by(statement.text, settings)


def wanted_by(text: str, settings: Settings) -> str:
    """The same, for a text."""
    hint = engine_hint(text)
    if hint is None:
        return settings.engine
    if hint not in ENGINES:
        raise InvalidArgument(f"there is no engine {hint!r} for the hint ENGINE(…); there is: {', '.join(ENGINES)}")
    return hint


def hindrance(execution: Execution) -> str | None:
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


def check_possible(execution: Execution) -> None:
    execution.session.guard.spark()
    found = hindrance(execution)
    if found is not None:
        raise NotSupportedError(f"this statement can't run on Spark: {found}. SET engine = 'local'.")


def keeps_rows(optimized: LogicalPlan) -> bool:
    """Whether a plan has to hold rows in memory, or else spill them or fail: to join, group or sort them."""
    return _KEEPING.search(optimized.display_indent()) is not None


def limit_of(execution: Execution, *, keeps: bool) -> tuple[int, str]:
    """The bytes that are read here at most, and what they are called."""
    config = execution.session.engine.config
    if keeps and config.engine.memory_limit < config.spark.threshold:
        return config.engine.memory_limit, f"memory limit of {config.engine.memory_limit:,} for rows that are kept"
    return config.spark.threshold, f"threshold of {config.spark.threshold:,}"


def judged(planned_bytes: int, execution: Execution, *, keeps: bool) -> Choice:
    """By the bytes that the scans of a statement are planned to read, and whether rows are kept of what is read."""
    hindered = hindrance(execution)
    limit, most = limit_of(execution, keeps=keeps)
    read = f"{planned_bytes:,} bytes are planned to be read"
    if planned_bytes <= limit:
        return Choice(LOCAL, f"auto: {read}, not more than the {most}")
    if hindered is not None:
        return Choice(LOCAL, f"auto: {read}, more than the {most}, but {hindered}")
    return Choice(SPARK, f"auto: {read}, more than the {most}")


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
    told = said(snapshot, "total-files-size")
    return int(told) if told is not None and str(told).isdigit() else None
