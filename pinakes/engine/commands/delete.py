"""DELETE FROM table [AS alias] [USING …] [WHERE …]: the rows that match go, in one commit.

Files whose rows all match, by what the metadata tells of them, go unread; those that can hold a match are read, and
written anew without it (or, as the table wants it, the rows are marked: `write.delete.mode`).
"""

from __future__ import annotations

from pinakes.engine.commands.counted import counted
from pinakes.engine.commands.remote_dispatch import elsewhere
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.full_file_delete import live_rows, whole_files
from pinakes.engine.iceberg.write.rewrite import Rewrite
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Delete


def delete(statement: Delete, execution: Execution) -> Result:
    rows = elsewhere(statement, execution)
    if rows is not None:
        return counted(statement, "DELETE", rows)
    found = execution.resolver.find(statement.target.name, kind="TABLE")
    return counted(statement, "DELETE", again(lambda: _delete(statement, execution), found))


def _delete(statement: Delete, execution: Execution) -> int:
    change = Rewrite.of(execution, statement, statement.target)
    on_read = change.is_merge_on_read("delete")
    doomed = _doomed(statement, change)
    candidates = set(change.wanted(doomed))
    whole = _whole(statement, change, candidates)
    change.narrow(candidates - whole)
    places = change.places(doomed)
    count = int(places.num_rows) + live_rows(change, whole)
    if count:
        change.apply(places, whole=whole, on_read=on_read)
    return count


def _doomed(statement: Delete, change: Rewrite) -> str:
    """The rows to delete: the target with what it is joined to, and the condition."""
    source = f"{change.text(statement.source)}\n CROSS JOIN " if statement.source is not None else ""
    where = f" WHERE {change.text(statement.where)}\n" if statement.where is not None else ""
    return f"{source}{change.sql}{where}"


def _whole(statement: Delete, change: Rewrite, candidates: set[int]) -> set[int]:
    if statement.source is not None:
        return set()
    if statement.where is None:
        return whole_files(change, candidates, None)
    # A condition that asks other tables can't be asked the other way round.
    return set() if statement.tables else whole_files(change, candidates, change.text(statement.where))
