"""Selects the subqueries of a statement that are computed once, and writes the text that reads their rows instead.

These are subqueries of WITH that are used more than once and that are expensive: joins, aggregates, DISTINCT, windows.
Excluded are subqueries of which only some rows are read (LIMIT without order), recursive and non-deterministic ones.
Only what the uses read is computed (`demand.py`), so no error comes from a row or column that no use reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.core.errors import PinakesError
from pinakes.engine.binding.planned_text import covers
from pinakes.engine.binding.relation import Key, Relation
from pinakes.engine.datafusion.plan_schema import analysed_schema
from pinakes.engine.planning.optimize.shared import SHARED, Shared
from pinakes.parser.splice import Edit
from pinakes.parser.statements import Definition, Planned, Span

if TYPE_CHECKING:
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.planning.planner import Planner


def share(planner: Planner, statement: Planned, span: Span | None, ordered: Sequence[Edit]) -> list[Edit]:
    """What is to stand in place of the subqueries that are computed once; the planner knows their relations. `ordered`
    are pieces that are written otherwise anyhow."""
    edits: list[Edit] = []
    made: list[Key] = []
    for definition in statement.definitions:
        if definition.uses < 2 or definition.is_sampled or not definition.is_work:
            continue
        if span is not None and not covers(span, definition.body):
            continue
        key = (SHARED, f"{planner.place}{definition.body.start}", definition.name)
        relation = planner.relations.known(key)
        if relation is None:
            relation = _relation(planner, statement, definition, around(edits, ordered), key)
            made += [key] if relation is not None else []
        if relation is not None:
            edits.append(Edit(definition.body.start, definition.body.end, f"SELECT * FROM {relation.sql}"))
    if made and not can_be_planned(planner, statement, span, around(edits, ordered)):
        planner.relations.forget(made)
        return []
    return edits


def around(outer: Sequence[Edit], inner: Sequence[Edit]) -> list[Edit]:
    """Both, without what stands within a piece that is replaced as a whole."""
    return [*outer, *(i for i in inner if not any(o.start <= i.start and i.end <= o.end for o in outer))]


def can_be_planned(planner: Planner, statement: Planned, span: Span | None, instead: Sequence[Edit]) -> bool:
    return _planned(planner, statement, span, instead) is not None


def _relation(
    planner: Planner, statement: Planned, definition: Definition, edits: Sequence[Edit], key: Key
) -> Relation | None:
    """The subquery as a relation that is to be computed, planned with those that stand before it in WITH."""
    body = definition.body
    opening = Edit(definition.before, body.start, " SELECT * FROM (")
    piece = [opening, Edit(body.end, body.end, "\n)")]
    plan = _planned(planner, statement, Span(definition.start, body.end), edits, piece)
    if plan is None:
        return None
    shared = Shared.of(definition.name, definition.uses, plan, analysed_schema(plan.frame), planner.context)
    if shared is None:
        return None
    return planner.add(Relation(key, shared.placeholder.provider, tuple(shared.schema.names), shared=shared))


def _planned(
    planner: Planner, statement: Planned, span: Span | None, instead: Sequence[Edit], also: Sequence[Edit] = ()
) -> Plan | None:
    """The plan of a piece of the statement; None if it cannot be planned alone. Then the statement is planned as
    written, which works or reports the error. It can work: where rows are grouped by a key of a subquery that groups by
    it, its other columns may be used as they are, but not if they come from a shared one."""
    text = planner.spliced(statement, span, also=also, instead=instead)
    try:
        return planner.plan_ahead(text, statement)
    except PinakesError:
        planner.check()
        return None
