"""DELETE FROM table [AS alias] [USING …] [WHERE …]: the rows that match go, in one commit.

Copy-on-write of the files that hold matching rows.
"""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.write.commit import again
from pinakes.engine.write.rewrite import Rewrite, files_of
from pinakes.parser.statements import Delete


def delete(statement: Delete, execution: Execution) -> Result:
    found = execution.session.resolver.find(statement.target.name, kind="TABLE")
    return Result.done("DELETE", again(lambda: _delete(statement, execution), found))


def _delete(statement: Delete, execution: Execution) -> int:
    change = Rewrite.of(execution, statement, statement.target)
    if statement.where is None and statement.source is None:
        count = execution.collect(change.planner.plan(f"SELECT count(*) FROM {change.sql}", statement))
        change.replace(range(len(change.paths)))
        return int(count.column(0)[0].as_py())
    places = change.places(_doomed(statement, change))
    if places.num_rows:
        change.replace(files_of(places), change.untouched(places))
    return int(places.num_rows)


def _doomed(statement: Delete, change: Rewrite) -> str:
    """The rows to delete: the target with what it is joined to, and the condition."""
    source = f"{change.text(statement.source)}\n CROSS JOIN " if statement.source is not None else ""
    where = f" WHERE {change.text(statement.where)}\n" if statement.where is not None else ""
    return f"{source}{change.sql}{where}"
