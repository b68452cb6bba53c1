"""A statement's text, written so that the same rows come sooner: joins in a better order, repeated work done once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.parser.splice import Edit
from pinakes.parser.statements import Planned, Span

if TYPE_CHECKING:
    from pinakes.engine.planning.planner import Planner


def improved(planner: Planner, statement: Planned, span: Span | None) -> list[Edit]:
    """Edits that make the statement faster; most statements have none and load no module for it. If the new text cannot
    be planned, there are no edits: then the original text reports the error, at its position."""
    if not statement.parsed or planner.is_nested:
        return []
    ordered = _ordered(planner, statement, span) if len(statement.tables) > 2 else []
    if not statement.definitions:
        return ordered
    from pinakes.engine.planning.optimize.share import around, share

    return around(share(planner, statement, span, ordered), ordered)


def _ordered(planner: Planner, statement: Planned, span: Span | None) -> list[Edit]:
    from pinakes.engine.planning.optimize.join_order import order_joins
    from pinakes.engine.planning.optimize.share import can_be_planned

    ordered = order_joins(planner, statement, span)
    return ordered if ordered and can_be_planned(planner, statement, span, ordered) else []
