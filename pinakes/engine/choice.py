"""Which engine runs a statement: the one that `SET engine`, or a hint in the statement, asks for; or, with `auto`, the
one that fits what the statement is estimated to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.parser.hints import engine_hint

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.core.settings import Settings
    from pinakes.engine.execution import Execution
    from pinakes.engine.relation import Relation
    from pinakes.parser.statements import Statement

LOCAL, SPARK, AUTO = "local", "spark", "auto"
ENGINES = (LOCAL, SPARK, AUTO)


class Choice(NamedTuple):
    engine: str
    why: str


def wanted_engine(statement: Statement, settings: Settings) -> str:
    """What is asked for: a hint counts for its statement alone."""
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
    """Why no statement of this session can run elsewhere now; None if it can."""
    session = execution.session
    if session.engine.make_remote is None:
        return "no other engine is joined to this one"
    if session.transaction is not None:
        return "a transaction is open, whose changes only this engine sees"
    if session.settings.time_zone != "UTC":
        return f"the session's time zone is {session.settings.time_zone}, and elsewhere all is computed in UTC"
    return None


def check_possible(execution: Execution) -> None:
    found = hindrance(execution)
    if found is not None:
        raise NotSupportedError(f"this statement can't run on Spark: {found}. SET engine = 'local'.")


def judged(planned_bytes: int, execution: Execution) -> Choice:
    """By the bytes that the scans of a statement are planned to read."""
    config = execution.session.engine.config
    hindered = hindrance(execution)
    limit = config.spark.threshold
    read, most = f"{planned_bytes:,} bytes are planned to be read", f"threshold of {limit:,}"
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
    told = None if snapshot.summary is None else snapshot.summary["total-files-size"]
    return int(told) if told is not None and str(told).isdigit() else None
