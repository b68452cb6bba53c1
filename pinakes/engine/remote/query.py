"""A query on another engine: planned here, for its names, its errors and its schema; run there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.errors import NotSupportedError
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_metrics import summary_of
from pinakes.engine.iceberg.write import snapshot_properties as author
from pinakes.engine.planning.plan_schema import schema_of_plan
from pinakes.engine.remote.engine_selection import (
    AUTO,
    LOCAL,
    Choice,
    check_possible,
    hindrance,
    judged,
    keeps_rows,
    limit_of,
    size_of,
)
from pinakes.engine.remote.interface import RemoteStatement
from pinakes.engine.remote.text import RemoteText
from pinakes.engine.result import Result

if TYPE_CHECKING:
    import pyarrow as pa
    from datafusion import DataFrame

    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned, Span

SMALL = 32_000_000
"""Bytes of tables whose rows, and what joins make of them, come over the connection; others go through files."""


def remote_query(statement: Planned, execution: Execution, wanted: str, span: Span | None = None) -> Result | None:
    """The rows of a query that another engine runs; None if `auto` chose this one, or it reads only what this one
    knows."""
    if wanted != AUTO:
        check_possible(execution)
        return _run(statement, execution, span)
    if hindrance(execution) is not None or estimated(statement, execution, span).engine == LOCAL:
        return None
    try:
        return _run(statement, execution, span)
    except NotSupportedError:  # what can't be said there, or not surely, is done here
        return None


def estimated(statement: Planned, execution: Execution, span: Span | None) -> Choice:
    """What `auto` chooses. The tables' own sizes are known at once; only if they are large it is looked closer."""
    planner = execution.planner()
    keeps = keeps_rows(planner.query(statement, span).optimized_logical_plan())
    at_most = size_of(planner.relations.all())
    execution.plans.forget()
    if at_most is not None and at_most <= limit_of(execution, keeps=keeps)[0]:
        return judged(at_most, execution, keeps=keeps)
    from pinakes.engine.explain.collect import planned_bytes

    found = judged(planned_bytes(statement, span, execution), execution, keeps=keeps)
    execution.plans.forget()
    return found


def _run(statement: Planned, execution: Execution, span: Span | None) -> Result | None:
    planner = execution.planner()
    frame = planner.query(statement, span)
    relations = planner.relations.all()
    if relations and all(relation.system is not None for relation in relations):
        execution.plans.forget()
        return None
    with execution.query.phase("plan"), translated():
        schema = schema_of_plan(frame.optimized_logical_plan())
        execution.query.planned(summary_of(frame.optimized_logical_plan()))
        text = RemoteText(execution, planner)
        sql = text.query(statement, span, schema)
    remote = remote_statement(execution, text, sql, schema, is_large=_is_large(planner, frame))
    assert execution.session.engine.remote is not None
    execution.query.engine = execution.session.engine.remote.name
    return Result(schema, execution.session.engine.remote.run(remote))


def remote_statement(
    execution: Execution, text: RemoteText, sql: str, schema: pa.Schema, *, is_large: bool = True
) -> RemoteStatement:
    execution.session.guard.spark()
    return RemoteStatement(
        execution.query,
        execution.session.session_id,
        sql,
        schema,
        tuple(text.catalogs.values()),
        tuple(text.handed_over.values()),
        is_large=is_large,
        signature={key: value for key, value in author.properties().items() if not key.startswith("engine-")},
    )


def _is_large(planner: Planner, frame: DataFrame) -> bool:
    """Whether a result may be: not of small tables that are joined by keys."""
    from pinakes.engine.datafusion.workarounds.cancellable_joins import crosses, has_no_keys

    relations = planner.relations.all()
    size, optimized = size_of(relations), frame.optimized_logical_plan()
    return size is None or size > SMALL or has_no_keys(optimized) or crosses(optimized, relations)
