"""MERGE for another engine, put together from the translations of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pinakes.core.errors import NotSupportedError
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.iceberg.write.assignments import clause_of
from pinakes.engine.iceberg.write.rewrite import TARGET
from pinakes.engine.remote.text import quoted
from pinakes.parser.spark.assignment import assigned_type

if TYPE_CHECKING:
    from pinakes.engine.iceberg.write.merge import Clause
    from pinakes.engine.iceberg.write.rewrite import Rewrite
    from pinakes.engine.remote.text import RemoteText
    from pinakes.parser.statements import Merge

_KINDS = ("MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE")
"""In the order that the other engine wants them; clauses of different kinds never take the same row."""


def merged(statement: Merge, change: Rewrite, text: RemoteText, target: str) -> str:
    if statement.source_alias is None:
        raise NotSupportedError("MERGE from a source without a name can't run on Spark. Give it an alias.")
    source = change.text(statement.source)
    seen = {"NOT MATCHED": source, "NOT MATCHED BY SOURCE": change.sql, "MATCHED": f"{change.sql} CROSS JOIN {source}"}
    clauses = [clause_of(c, statement, change, source) for c in statement.clauses]
    parts = [part for kind in _KINDS for part in _parts(clauses, kind, change, text, seen[kind])]
    if not parts:
        raise NotSupportedError("MERGE with nothing but DO NOTHING can't run on Spark. SET engine = 'local'.")
    query = text.source_of(f"SELECT * FROM {source}", statement)
    (on,) = text.parts(f"SELECT ({change.text(statement.on)}\n) AS o FROM {seen['MATCHED']}", statement)
    alias = quoted(statement.source_alias.exact)
    return f"MERGE INTO {target} AS {quoted(TARGET)} USING ({query}) AS {alias} ON {on} {' '.join(parts)}"


def _parts(clauses: Sequence[Clause], kind: str, change: Rewrite, text: RemoteText, seen: str) -> Iterator[str]:
    """The clauses of one kind, of which the first that fits a row takes it. The other engine knows no DO NOTHING: what
    such a clause takes is kept from those after it."""
    taken = ""
    for clause in clauses:
        if clause.when != kind:
            continue
        condition = _condition(clause, change, text, seen)
        if clause.action != "NOTHING":
            given = f" AND ({condition})" if condition else ""
            yield f"WHEN {kind}{given}{taken} THEN {_action(clause, change, text, seen)}"
        elif condition:
            taken += f" AND NOT coalesce({condition}, false)"
        if not condition:
            return


def _condition(clause: Clause, change: Rewrite, text: RemoteText, seen: str) -> str:
    if clause.condition is None:
        return ""
    (found,) = text.parts(f"SELECT ({clause.condition}\n) AS c FROM {seen}", change.statement)
    return found


def _action(clause: Clause, change: Rewrite, text: RemoteText, seen: str) -> str:
    if clause.action == "DELETE":
        return "DELETE"
    listed = ", ".join(f"({sql}\n) AS v{at}" for at, sql in enumerate(clause.values.values()))
    select = f"SELECT {listed} FROM {seen}"
    types = schema_of(change.planner.plan(select, change.statement).frame).types
    found = text.parts(select, change.statement)
    values = [
        f"CAST({value} AS {assigned_type(type, change.type_of(name), name)})"
        for name, value, type in zip(clause.values, found, types, strict=True)
    ]
    if clause.action == "UPDATE":
        return "UPDATE SET " + ", ".join(f"{quoted(n)} = {v}" for n, v in zip(clause.values, values, strict=True))
    return f"INSERT ({', '.join(map(quoted, clause.values))}) VALUES ({', '.join(values)})"
