"""MERGE INTO table [AS alias] USING table | (query) [AS alias] ON condition WHEN [NOT] MATCHED [BY SOURCE]
[AND condition] THEN UPDATE SET column = expression, … | DELETE | INSERT [(columns)] VALUES (…) | DO NOTHING …
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.core.names import quote
from pinakes.engine.commands.counted import counted
from pinakes.engine.commands.remote_dispatch import elsewhere
from pinakes.engine.iceberg.write.assignments import clause_of
from pinakes.engine.iceberg.write.commit import again
from pinakes.engine.iceberg.write.matching import matching
from pinakes.engine.iceberg.write.merge import merge_into
from pinakes.engine.iceberg.write.rewrite import Rewrite, at_hand
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Merge


def merge(statement: Merge, execution: Execution) -> Result:
    rows = elsewhere(statement, execution)
    if rows is not None:
        return counted(statement, "MERGE", rows)
    found = execution.resolver.find(statement.target.name, kind="TABLE")
    return counted(statement, "MERGE", again(lambda: _merge(statement, execution), found))


def _merge(statement: Merge, execution: Execution) -> int:
    change = Rewrite.of(execution, statement, statement.target)
    on_read = change.is_merge_on_read("merge")
    source = _source(statement, change)
    on = change.text(statement.on)
    files = set(matching(change, change.text(statement.source), source, on))
    clauses = [clause_of(c, statement, change, source) for c in statement.clauses]
    lonely = [c.condition for c in clauses if c.when == "NOT MATCHED BY SOURCE"]
    if lonely:
        files |= _unmatched(change, lonely)
    change.narrow(files)
    return merge_into(change, source, on, clauses, on_read=on_read)


def _unmatched(change: Rewrite, conditions: Sequence[str | None]) -> set[int]:
    """The files that can hold a row which a NOT MATCHED BY SOURCE clause takes."""
    known = [c for c in conditions if c is not None]
    where = " OR ".join(f"({c}\n)" for c in known) if len(known) == len(conditions) else "TRUE"
    return set(change.wanted(f"{change.sql} WHERE {where}"))


def _source(statement: Merge, change: Rewrite) -> str:
    """The source as it stands in a FROM clause. A query is read once and kept, since it is asked several times and
    might answer differently; a table is read at one snapshot anyway."""
    text = change.text(statement.source)
    table = any(ref.span.start == statement.source.start for ref in statement.tables)
    if table or statement.source_alias is None:
        return text
    rows = change.execution.collect(change.planner.plan(f"SELECT * FROM {text}", statement))
    return f"{change.planner.add(at_hand(rows, 'source')).sql} AS {quote(statement.source_alias.exact)}"
