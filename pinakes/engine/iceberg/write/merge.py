"""MERGE: a join of target and source determines the clause for each row.

The changed rows of the target are collected with their new values; a row that two source rows would change is an error.
Then their files are rewritten with the new values, or (merge-on-read) the rows are deleted and their new values are
appended. Rows for NOT MATCHED are appended.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.names import quote
from pinakes.engine.iceberg.scan.dataset import FILE, ROW
from pinakes.engine.iceberg.write.cast_errors import naming_misfits
from pinakes.engine.iceberg.write.merge_cardinality import check_once
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite, at_hand, batches_of, files_of
from pinakes.engine.iceberg.write.shape import cast, shaped
from pinakes.engine.planning.plan import Plan

When = Literal["MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"]
Action = Literal["UPDATE", "DELETE", "INSERT", "NOTHING"]
_ACTION = "$pinakes_action"
_CHANGED = "$pinakes_changed"
"""A column that is true for each row that is changed or added."""
_NEW = "$pinakes_new "
"""The prefix of a column's name for its new value."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A WHEN clause with its expressions as SQL text; `values` are by column of the target."""

    when: When
    action: Action
    condition: str | None
    values: dict[str, str] = field(default_factory=dict)


def merge_into(change: Rewrite, source: str, on: str, clauses: Sequence[Clause], *, on_read: bool) -> int:
    """Runs the clauses and returns the number of rows changed, deleted and inserted."""
    with naming_misfits(change, _sets(change, source, on, clauses)):
        return _merge(change, source, on, clauses, on_read=on_read)


def _merge(change: Rewrite, source: str, on: str, clauses: Sequence[Clause], *, on_read: bool) -> int:
    changes = _changes(change, source, on, clauses)
    inserts = [c for c in clauses if c.when == "NOT MATCHED"]
    plans: list[Plan] = []
    if changes.num_rows:
        plans.append(_rewritten(change, changes, clauses, on_read=on_read))
    plans += _inserted(change, source, on, inserts)
    if not plans:
        return 0
    deleted = pc.sum(pc.is_in(changes.column(_ACTION), pa.array(_numbers(clauses, "DELETE"), pa.int32()))).as_py() or 0
    counter = _Counter(change)
    rewritten = int(bool(changes.num_rows))
    rows = itertools.chain(
        counter.strip(batches_of(change.execution, plans[:rewritten]), "UPDATE"),
        counter.strip(batches_of(change.execution, plans[rewritten:]), "INSERT"),
    )
    if change.returned is not None and deleted:
        _return_deleted(change, changes, clauses)
    change.apply(changes.select([FILE, ROW]), rows, on_read=on_read, complete=True)
    return int(deleted + counter.changed)


def _return_deleted(change: Rewrite, changes: pa.Table, clauses: Sequence[Clause]) -> None:
    is_deleted = pc.is_in(changes.column(_ACTION), pa.array(_numbers(clauses, "DELETE"), pa.int32()))
    change.return_old(changes.filter(is_deleted).select([FILE, ROW]))


def _sets(change: Rewrite, source: str, on: str, clauses: Sequence[Clause]) -> Iterator[tuple[Mapping[str, str], str]]:
    """Yields the values that each clause sets, and the rows that it may apply to."""
    rows = {
        "MATCHED": f"{source}\n CROSS JOIN {change.sql} WHERE ({on}\n)",
        "NOT MATCHED": f"{source}\n LEFT ANTI JOIN {change.sql} ON {on}\n WHERE TRUE",
        "NOT MATCHED BY SOURCE": f"{change.sql} WHERE NOT EXISTS (SELECT 1 FROM {source}\n WHERE {on}\n)",
    }
    for number, clause in enumerate(clauses):
        if clause.values:
            yield clause.values, f"{rows[clause.when]} AND {_case(clauses, clause.when)} = {number}"


class _Counter:
    """Removes the CHANGED column from each batch, and counts and returns the marked rows."""

    def __init__(self, change: Rewrite) -> None:
        self.changed = 0
        self._width = len(change.columns) + len(change.lineage)
        self._returned = change.returned

    def strip(self, batches: Iterator[pa.RecordBatch], action: Literal["INSERT", "UPDATE"]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self.changed += pc.sum(batch.column(self._width)).as_py() or 0
            if self._returned is not None:
                self._returned.add(batch.filter(batch.column(self._width)), action)
            yield batch.select(range(self._width))


def _numbers(clauses: Sequence[Clause], action: Action) -> list[int]:
    return [i for i, c in enumerate(clauses) if c.action == action]


def _case(clauses: Sequence[Clause], when: When) -> str:
    """Returns SQL for the number of the first clause of this kind whose condition is true, or NULL."""
    arms = [
        f"WHEN {f'({c.condition}' + chr(10) + ')' if c.condition else 'TRUE'} THEN {i}"
        for i, c in enumerate(clauses)
        if c.when == when
    ]
    return f"CAST(CASE {' '.join(arms)} END AS INT)" if arms else "CAST(NULL AS INT)"


def _changes(change: Rewrite, source: str, on: str, clauses: Sequence[Clause]) -> pa.Table:
    """Returns one row per updated or deleted target row: its position, the clause, and its new values."""
    target = change.sql
    joined = f"{source}\n CROSS JOIN {target} WHERE {on}\n"  # the source of an UPDATE may be a list of tables
    parts = []
    if any(c.when == "MATCHED" for c in clauses):
        parts.append(_part(change, clauses, "MATCHED", joined, joined))
    if any(c.when == "NOT MATCHED BY SOURCE" for c in clauses):
        lonely = f"{target} WHERE NOT EXISTS (SELECT 1 FROM {source}\n WHERE {on}\n)"
        parts.append(_part(change, clauses, "NOT MATCHED BY SOURCE", target, lonely))
    if not parts:
        return pa.schema([(FILE, pa.int32()), (ROW, pa.int64()), (_ACTION, pa.int32())]).empty_table()
    rows = change.execution.collect(change.plan(" UNION ALL ".join(parts)))
    check_once(rows, change, on)
    return rows


def _part(change: Rewrite, clauses: Sequence[Clause], when: When, scope: str, source: str) -> str:
    """Returns SQL for the rows that the clauses of one kind change; `scope` is the FROM clause of their expressions."""
    place = ", ".join(f"{quote(TARGET)}.{quote(c)}" for c in (FILE, ROW))
    values = _new_values(change, clauses, when, scope)
    sql = f"SELECT {place}, {_case(clauses, when)} AS {quote(_ACTION)}{values} FROM {source}"
    changing = [i for i, c in enumerate(clauses) if c.when == when and c.action in ("UPDATE", "DELETE")]
    if _takes_all([c for c in clauses if c.when == when]):
        return sql
    return f"SELECT * FROM ({sql}) AS x WHERE {quote(_ACTION)} IN ({', '.join(map(str, changing)) or '-1'})"


def _takes_all(clauses: Sequence[Clause]) -> bool:
    """Returns whether the first clause applies to every row.

    No condition is generated then, since DataFusion's scan of an Arrow dataset fails on one that is always true.
    """
    return clauses[0].condition is None and clauses[0].action != "NOTHING"


def _new_values(change: Rewrite, clauses: Sequence[Clause], when: When, source: str) -> str:
    """Returns SQL for the new value of every column that a clause sets, in the target's type."""
    columns = {c for clause in clauses if clause.action == "UPDATE" for c in clause.values}
    typed = _typed(change, [c.values for c in clauses if c.when == when and c.action == "UPDATE"], source)
    text = ""
    for column in (c for c in change.columns if c in columns):
        target = change.type_of(column)
        arms = [
            f"WHEN {i} THEN {cast(f'({clause.values[column]}{chr(10)})', typed[clause.values[column]], target)}"
            for i, clause in enumerate(clauses)
            if clause.when == when and column in clause.values and clause.action == "UPDATE"
        ]
        old = f"{quote(TARGET)}.{quote(column)}"
        value = f"CASE {_case(clauses, when)} {' '.join(arms)} ELSE {old} END" if arms else old
        first = next(c for c in clauses if c.when == when)
        if first.condition is None and column in first.values:  # it applies to every row: old values aren't needed
            value = cast(f"({first.values[column]}\n)", typed[first.values[column]], target)
        text += f", {value} AS {quote(_NEW + column)}"
    return text


def _typed(change: Rewrite, sets: Sequence[Mapping[str, str]], source: str) -> dict[str, pa.DataType]:
    """Returns the type of each assigned value, by its text."""
    values = list(dict.fromkeys(value for one in sets for value in one.values()))
    if not values:
        return {}
    text = ", ".join(f"({value}\n) AS v{at}" for at, value in enumerate(values))
    return dict(zip(values, change.types(f"SELECT {text} FROM {source}"), strict=True))


def _rewritten(change: Rewrite, changes: pa.Table, clauses: Sequence[Clause], *, on_read: bool) -> Plan:
    """Returns the rows of the touched files with new values and without deleted rows; or, on read, only the changed
    rows.
    """
    narrowed, known = change.narrowed(files_of(changes)), change.planner.add(at_hand(changes))
    action = f"c.{quote(_ACTION)}"
    columns = ", ".join(
        f"CASE WHEN {action} IS NULL THEN t.{quote(c)} ELSE c.{quote(_NEW + c)} END AS {quote(c)}"
        if f"{_NEW}{c}" in changes.column_names
        else f"t.{quote(c)}"
        for c in change.columns
    )
    lineage = change.changed_lineage("t", f"{action} IS NOT NULL")
    gone = ", ".join(str(n) for n in _numbers(clauses, "DELETE")) or "-1"
    on = " AND ".join(f"t.{quote(c)} = c.{quote(c)}" for c in (FILE, ROW))
    join = "INNER JOIN" if on_read else "LEFT JOIN"
    sql = (
        f"SELECT {columns}{lineage}, {action} IS NOT NULL AS {quote(_CHANGED)} FROM {narrowed.sql} AS t "
        f"{join} {known.sql} AS c ON {on} WHERE {action} IS NULL OR {action} NOT IN ({gone})"
    )
    return change.plan(sql)


def _inserted(change: Rewrite, source: str, on: str, clauses: Sequence[Clause]) -> Iterator[Plan]:
    """Yields the source rows without a match, in the form of the first INSERT clause whose condition is true.

    It uses an anti join instead of NOT EXISTS: there, DataFusion reads n.id as a field of the target's column n, if it
    has one.
    """
    lonely = f"{source}\n LEFT ANTI JOIN {change.sql} ON {on}\n"
    schema = change.table.handle.schema()
    zone = change.execution.session.settings.time_zone
    for number, clause in enumerate(clauses):
        if clause.action != "INSERT":
            continue
        typed = _typed(change, [clause.values], source)
        select = shaped(schema, {c: (f"({v}\n)", typed[v]) for c, v in clause.values.items()}, zone)
        chosen = "" if _takes_all(clauses) else f" WHERE {_case(clauses, 'NOT MATCHED')} = {number}"
        sql = f"SELECT {select}{change.new_lineage()}, TRUE AS {quote(_CHANGED)} FROM {lonely}{chosen}"
        yield change.plan(sql)
        if _takes_all(clauses):
            return
