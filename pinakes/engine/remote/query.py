"""A query on another engine: planned here, for its names, its errors and its schema; run there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_metrics import summary_of
from pinakes.engine.datafusion.plan_schema import schema_of_plan
from pinakes.engine.iceberg.write import snapshot_properties as author
from pinakes.engine.remote.engine_selection import run_remotely, size_of
from pinakes.engine.remote.interface import RemoteStatement
from pinakes.engine.remote.text import RemoteText
from pinakes.engine.result import Result

if TYPE_CHECKING:
    import pyarrow as pa
    from datafusion.plan import LogicalPlan

    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned, Span

SMALL = 32_000_000
"""Bytes of tables whose rows, and what joins make of them, come over the connection; others go through files."""


def remote_query(statement: Planned, execution: Execution, span: Span | None = None) -> Result | None:
    """The rows of a query that another engine runs; None if it is to run here."""
    return run_remotely(lambda: _run(statement, execution, span), execution)


def _run(statement: Planned, execution: Execution, span: Span | None) -> Result:
    planner = execution.planner()
    plan = planner.query(statement, span)
    with execution.query.phase("plan"), translated():
        optimized = plan.frame.optimized_logical_plan()
        schema = schema_of_plan(optimized)
        execution.query.planned(summary_of(optimized))
        text = RemoteText(execution, planner)
        sql = text.query(statement, span, schema)
    sent = remote_statement(execution, text, sql, schema, is_large=_is_large(plan, optimized))
    remote = execution.session.engine.remote
    assert remote is not None
    rows = remote.run(sent)
    execution.query.engine = remote.name
    return Result(schema, rows)


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


def _is_large(plan: Plan, optimized: LogicalPlan) -> bool:
    """Whether a result may be: not of small tables that are joined by keys."""
    from pinakes.engine.datafusion.workarounds.cancellable_joins import crosses, has_no_keys

    relations = plan.relations.values()
    size = size_of(relations)
    return size is None or size > SMALL or has_no_keys(optimized) or crosses(optimized, relations)
