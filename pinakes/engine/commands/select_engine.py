"""Engine selection for one statement: where it runs, before its handler is called.

The handler gets the result as `Execution.engine`. With `auto` the bytes that the statement would read are estimated: of
a query by its plan, of a change and of maintenance by the size of the tables.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from pinakes.core.engines import AUTO, HERE, LOCAL, SPARK, Choice
from pinakes.engine.commands.maintenance import procedure_executed
from pinakes.engine.explain.collect import planned_bytes
from pinakes.engine.iceberg.write.rewrite import Rewrite
from pinakes.engine.procedures.call import procedure_called, table_named
from pinakes.engine.procedures.compute_table_stats import PROCEDURE as ANALYZE
from pinakes.engine.remote.engine_selection import (
    asked_for,
    blocker,
    chosen_by_size,
    keeps_rows,
    limit_of,
    size_of,
    table_size,
    wanted_engine,
)
from pinakes.parser.statements import (
    Analyze,
    Call,
    CreateTableAs,
    Delete,
    Insert,
    Merge,
    Planned,
    Query,
    Span,
    Statement,
    TableExecute,
    Update,
)

if TYPE_CHECKING:
    from pinakes.core.names import Name
    from pinakes.engine.procedures.base import Procedure
    from pinakes.engine.statement_context import Execution

Maintenance = Call | TableExecute | Analyze


def select_engine(statement: Statement, execution: Execution) -> Choice:
    """The engine that runs a statement. Raises if one was asked for that can't be used."""
    wanted = wanted_engine(statement, execution.session.settings)
    if wanted == LOCAL:
        return HERE
    if isinstance(statement, CreateTableAs) and not statement.with_data:
        return HERE
    procedure = _procedure(statement, execution) if isinstance(statement, Maintenance) else None
    if isinstance(statement, Maintenance) and (procedure is None or procedure.on_remote_engine == "never"):
        return HERE
    if wanted != AUTO:
        choice = asked_for(execution)
        return HERE if isinstance(statement, Query) and _reads_only_system_tables(statement, execution) else choice
    if blocker(execution) is not None or (procedure is not None and procedure.on_remote_engine != "large"):
        return HERE
    with ExitStack() as scope:
        return _by_size(statement, replace(execution, scope=scope), procedure)


def _reads_only_system_tables(statement: Query, execution: Execution) -> bool:
    """Those are rows of this process."""
    relations = execution.planner().query(statement, is_result=True).relations.values()
    return bool(relations) and all(relation.system is not None for relation in relations)


# --- auto ------------------------------------------------------------------------------------------------------------


def _by_size(statement: Statement, execution: Execution, procedure: Procedure | None) -> Choice:
    match statement:
        case Query():
            return _by_plan(statement, None, execution)
        case Insert() | CreateTableAs():
            return HERE if statement.body is None else _by_plan(statement, statement.body, execution)
        case Update() | Delete() | Merge():
            change = Rewrite.of(execution, statement, statement.target)
            others = [change.planner.relation_of(at, statement) for at in range(len(statement.tables))]
            size = size_of([change.relation, *others])
            if size is None:
                return Choice(SPARK, "auto: the size of a table is not known", is_automatic=True)
            return chosen_by_size(size, execution, keeps=True)
        case Call() | TableExecute() | Analyze():
            assert procedure is not None
            name = _target(statement, procedure, execution)
            found = execution.resolver.maybe(name, kind="TABLE")
            size = 0 if found is None else table_size(execution.resolver.table(name)[1])
            return chosen_by_size(size or 0, execution, keeps=True)
    raise AssertionError(f"{statement.kind} runs here only")


def _by_plan(statement: Planned, span: Span | None, execution: Execution) -> Choice:
    """The tables' own sizes are known at once; only if they are large, the files that would be read are counted."""
    plan = execution.planner().query(statement, span, is_result=isinstance(statement, Query))
    keeps = keeps_rows(plan.frame.optimized_logical_plan())
    size = size_of(plan.relations.values())
    if size is None or size > limit_of(execution, keeps=keeps)[0]:
        size = planned_bytes(statement, span, execution)
    return chosen_by_size(size, execution, keeps=keeps)


# --- maintenance -----------------------------------------------------------------------------------------------------


def _procedure(statement: Maintenance, execution: Execution) -> Procedure | None:
    """The procedure that a statement runs on a table."""
    match statement:
        case Call():
            return procedure_called(statement, execution)
        case TableExecute():
            return procedure_executed(statement)
        case Analyze():
            return ANALYZE if statement.scans else None


def _target(statement: Maintenance, procedure: Procedure, execution: Execution) -> Name:
    match statement:
        case Call():
            return table_named(statement, procedure, execution)
        case TableExecute():
            return statement.name
        case Analyze():
            return statement.table
