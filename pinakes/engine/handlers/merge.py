"""MERGE INTO target USING source ON condition WHEN …"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import quote
from pinakes.engine.execution import Execution
from pinakes.engine.handlers.insert import target_columns
from pinakes.engine.handlers.update import assigned
from pinakes.engine.result import Result
from pinakes.engine.write.commit import again
from pinakes.engine.write.merge import Clause, merge_into
from pinakes.engine.write.rewrite import Rewrite
from pinakes.parser.statements import Merge, MergeClause


def merge(statement: Merge, execution: Execution) -> Result:
    found = execution.session.resolver.find(statement.target.name, kind="TABLE")
    return Result.done("MERGE", again(lambda: _merge(statement, execution), found))


def _merge(statement: Merge, execution: Execution) -> int:
    change = Rewrite.of(execution, statement, statement.target)
    source = change.text(statement.source)
    on = change.text(statement.on)
    clauses = [_clause(c, statement, change, source) for c in statement.clauses]
    return merge_into(change, source, on, clauses)


def _clause(clause: MergeClause, statement: Merge, change: Rewrite, source: str) -> Clause:
    condition = None
    if clause.condition is not None:
        condition = change.text(clause.condition)
    return Clause(clause.when, clause.action, condition, _values(clause, statement, change, source))


def _values(clause: MergeClause, statement: Merge, change: Rewrite, source: str) -> dict[str, str]:
    if clause.star:
        return _star(statement, change, source)
    if clause.action == "UPDATE":
        return assigned(clause.assignments, change)
    if clause.action != "INSERT":
        return {}
    columns = target_columns(clause.columns, change.columns) if clause.columns else change.columns
    if len(columns) != len(clause.values):
        raise InvalidArgument(f"INSERT names {len(columns)} columns and gives {len(clause.values)} values")
    texts = [change.text(v) for v in clause.values]
    return dict(zip(columns, texts, strict=True))


def _star(statement: Merge, change: Rewrite, source: str) -> dict[str, str]:
    """UPDATE SET * and INSERT *: every column of the target from the source's column of the same name."""
    names = change.planner.plan(f"SELECT * FROM {source}", statement).schema().names
    missing = [c for c in change.columns if c not in names]
    if missing:
        raise InvalidArgument(f"* needs a column {quote(missing[0])} in the source, which has: {', '.join(names)}")
    prefix = f"{quote(statement.source_alias.exact)}." if statement.source_alias else ""
    return {c: f"{prefix}{quote(c)}" for c in change.columns}
