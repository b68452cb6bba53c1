"""Counts how many rows of a small table satisfy the predicates of a query.

Where a table of many rows is joined, a small one is worth reading before the join order is chosen: the count, and the
range of the keys of these rows, show which part of the large table is joined (365 days of a year are a fifth of the
sales of five years, and not a two-hundredth). Counts are cached for the snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import PinakesError
from pinakes.core.names import quote
from pinakes.engine.planning.optimize.table_facts import Spread, TableFacts, spread_of

if TYPE_CHECKING:
    from pinakes.engine.planning.planner import Planner
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Planned

MOST_ROWS = 200_000
"""Of a table that is read for this."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows, and where their keys lie. No rows at all (-1) if they could not be counted."""

    rows: int
    spreads: dict[str, Spread | None]
    nbytes: int = 500


def counted(
    planner: Planner, statement: Planned, source: str, facts: TableFacts, conditions: Sequence[str], keys: Sequence[str]
) -> Counted | None:
    """`source` is the table with its alias, and the conditions are on it alone, both as DataFusion reads them; the
    planner knows the table."""
    execution = planner.execution
    columns = [f for key in keys for f in (f"min({quote(key)})", f"max({quote(key)})")]
    asked = f"SELECT {', '.join(['count(*)', *columns])} FROM {source} WHERE {' AND '.join(conditions)}"
    cache = execution.session.manifests
    key = f"{facts.version} {asked}"
    found = cache.get("counted", key, lambda: _count(planner, execution, statement, asked, keys), own=True)
    return found if found.rows >= 0 else None


def _count(planner: Planner, execution: Execution, statement: Planned, asked: str, keys: Sequence[str]) -> Counted:
    """A predicate that fails for a row is ignored here: the query may never evaluate it for that row, or reports the
    error itself."""
    try:
        row: list[Any] = [column[0].as_py() for column in execution.collect(planner.plan(asked, statement)).columns]
    except PinakesError:
        execution.query.check()
        return Counted(-1, {})
    rows, ends = int(row[0]), [_day_or_number(value) for value in row[1:]]
    spreads = {key: spread_of(ends[2 * i], ends[2 * i + 1], rows) for i, key in enumerate(keys)}
    return Counted(rows, spreads)


def _day_or_number(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    import datetime

    return (value - datetime.date(1970, 1, 1)).days if type(value) is datetime.date else None
