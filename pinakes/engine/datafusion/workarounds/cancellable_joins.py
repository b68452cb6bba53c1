"""Joins that compare pair by pair, made so that they can be stopped.

DataFusion stops a query where its operators come back to the runtime. A join that has a condition beyond equal keys
comes back when it has rows to give, or when it is through with a batch of the one side and all rows of the other, which
may take minutes. So each such condition goes through a function of ours, which gives it back as it is and raises once
the query was stopped. It costs some 10 µs a batch, so plans of joins without keys have larger batches. A join without
any condition comes back after each batch of the one side: these plans have smaller ones.

The statement is planned once more with the function in its text, and that plan is taken if it differs from the first
in nothing else: what the optimiser makes of a condition, it must make of it behind the function, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from datafusion import ScalarUDF, udf

from pinakes.parser import locate_join_predicates
from pinakes.parser.splice import Edit, splice

if TYPE_CHECKING:
    from datafusion import SessionContext
    from datafusion.plan import LogicalPlan

    from pinakes.engine.binding.relation import Relation
    from pinakes.engine.execution.query import Query

CALL = "$alive"
LARGER = 4
"""Times the rows of a batch: for pairs they are cheap, and the function is called less often."""
MOST_ROWS = 131_072
CROSSED_ROWS = 2_048
"""Of a batch, in a plan that joins without a condition."""
FEW_ROWS = 10_000
"""Tables that are joined without a condition, and have no more, are through soon enough."""
_COMPARING = re.compile(r"^ *\w+ Join: .*Filter: ", re.MULTILINE)
_KEYLESS = re.compile(r"^ *\w+ Join: +Filter: ", re.MULTILINE)
_ONE = re.compile(r" *(?:Aggregate: groupBy=\[\[\]\]|EmptyRelation|Limit: skip=\w+, fetch=\d{1,3}$)")
_JOIN = re.compile(r" *\w+ Join: ")


@dataclass(frozen=True, slots=True)
class Joins:
    """How the joins of a plan are planned."""

    calls: bool | None = None
    """Whether texts get calls in their conditions, and whether also in those that may be of one table."""
    keyless: bool = False
    """There is a join that has a condition and no keys."""
    crosses: bool = False
    """There is a join without a condition."""

    def applied(self, sql: str, rows: int, query: Query, context: SessionContext) -> tuple[str, int]:
        """The text with the calls in its conditions, and the rows of a batch."""
        rows = rows_per_batch(rows, keyless=self.calls is not None and self.keyless, crosses=self.crosses)
        if self.calls is None:
            return sql, rows
        context.register_udf(function(query))
        return with_calls(sql, loose=self.calls), rows


PLAIN_JOINS = Joins()


def compares_pairs(optimized: LogicalPlan) -> bool:
    """Whether a plan has a join with a condition beyond equal keys."""
    return _COMPARING.search(optimized.display_indent()) is not None


def has_no_keys(optimized: LogicalPlan) -> bool:
    """Whether one of them has no keys at all, so that it compares every row with every other."""
    return _KEYLESS.search(optimized.display_indent()) is not None


def crosses(optimized: LogicalPlan, relations: Iterable[Relation]) -> bool:
    """Whether a plan has a join without a condition, neither side of which is a single row, over tables that are not
    small."""
    lines = optimized.display_indent().splitlines()
    found = any(line.lstrip().startswith("Cross Join:") and not _has_one(lines, at) for at, line in enumerate(lines))
    return found and any(not _is_small(relation) for relation in relations)


def _has_one(lines: Sequence[str], at: int) -> bool:
    """Whether a side of the join is a single row: an aggregate of all, say."""
    depth = _depth(lines[at])
    for top in range(at + 1, len(lines)):
        if _depth(lines[top]) <= depth:
            return False
        if _depth(lines[top]) == depth + 2 and _is_one(lines, top):
            return True
    return False


def _is_one(lines: Sequence[str], top: int) -> bool:
    while lines[top].lstrip().startswith(("Projection:", "SubqueryAlias:", "Filter:")) and top + 1 < len(lines):
        top += 1
    return _ONE.match(lines[top]) is not None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_small(relation: Relation) -> bool:
    """Known to have few rows. Of a view, the tables that it reads stand for themselves."""
    if relation.table is None:
        return relation.system is not None or relation.view is not None
    snapshot = relation.table.handle.metadata.current_snapshot()
    if snapshot is None:
        return True
    records = snapshot.summary.get("total-records") if snapshot.summary is not None else None
    return records is not None and int(records) <= FEW_ROWS


def with_calls(sql: str, *, loose: bool) -> str:
    """The text with the function around each condition on pairs of rows."""
    edits = [edit for span in locate_join_predicates(sql, loose=loose) for edit in _around(span.start, span.end)]
    return splice(sql, edits).text


def _around(start: int, end: int) -> tuple[Edit, Edit]:
    return Edit(start, start, f'"{CALL}"('), Edit(end, end, ")")


def function(query: Query) -> ScalarUDF:
    """The function of one query: a condition as it is, as long as the query was not stopped."""

    def alive(condition: pa.Array) -> pa.Array:
        query.check()
        return condition

    return udf(alive, [pa.bool_()], pa.bool_(), "immutable", CALL)


def differs_by_calls(before: LogicalPlan, after: LogicalPlan) -> bool:
    """Whether a plan is another one with the function in conditions of joins, and nowhere else."""
    lines, called = before.display_indent().splitlines(), after.display_indent().splitlines()
    if not any(CALL in line for line in called):
        return False
    return lines == [_without_calls(line) if _JOIN.match(line) else line for line in called]


def _without_calls(line: str) -> str:
    """The line with the arguments of the function in place of its calls."""
    while (start := line.find(f"{CALL}(")) >= 0:
        inner = start + len(CALL) + 1
        end = next(_closing(line, inner), len(line))
        line = line[:start] + line[inner:end] + line[end + 1 :]
    return line


def _closing(line: str, at: int) -> Iterator[int]:
    """Where the bracket that is open is closed. In a text literal that has brackets of its own it is not found, and the
    plan counts as another."""
    depth = 1
    for place in range(at, len(line)):
        depth += (line[place] == "(") - (line[place] == ")")
        if depth == 0:
            yield place


def rows_per_batch(usual: int, *, keyless: bool, crosses: bool) -> int:
    """Of a plan with joins of such kinds."""
    if keyless:
        return usual if crosses else max(usual, min(usual * LARGER, MOST_ROWS))
    return min(usual, CROSSED_ROWS) if crosses else usual


LOOSENESS: Sequence[bool] = (True, False)
"""First with conditions that may be of one table: if that changes a plan, without them."""
