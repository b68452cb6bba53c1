"""DELETE FROM table [USING …] [WHERE …]: copy-on-write of the files that hold matching rows."""

from __future__ import annotations

from pinakes.core.names import quote
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.write.commit import again
from pinakes.engine.write.rewrite import Rewrite, column_list
from pinakes.parser.statements import Delete


def delete(statement: Delete, execution: Execution) -> Result:
    found = execution.session.resolver.find(statement.target.name, kind="TABLE")
    return Result.done("DELETE", again(lambda: _delete(statement, execution), found))


def _delete(statement: Delete, execution: Execution) -> int:
    change = Rewrite.of(execution, statement, statement.target)
    condition = _condition(statement, change)
    target = change.sql
    rows = change.planner.plan(f"SELECT _file, count(*) FROM {target} WHERE {condition} GROUP BY 1", statement)
    doomed = dict(zip(*execution.collect(rows).to_pydict().values(), strict=True))
    if not doomed:
        return 0
    narrowed = change.narrowed(doomed)
    columns = column_list(change.alias, change.columns)
    kept = f"SELECT {columns} FROM {narrowed.sql} AS {quote(change.alias)} WHERE ({condition}) IS NOT TRUE"
    change.replace(doomed, change.planner.plan(kept, statement))
    return sum(doomed.values())


def _condition(statement: Delete, change: Rewrite) -> str:
    """The rows to delete, as a condition on the target alone."""
    where = "TRUE"
    if statement.where is not None:
        where = change.text(statement.where)
    if statement.source is None:
        return f"({where}\n)"
    source = change.text(statement.source)
    return f"EXISTS (SELECT 1 FROM {source} WHERE {where}\n)"
