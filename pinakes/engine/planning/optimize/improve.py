"""A statement's text, written so that the same rows come sooner: joins in a better order, repeated work done once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.engine.planning.splice import Edit
from pinakes.parser.statements import Planned, Span

if TYPE_CHECKING:
    from pinakes.engine.planning.planner import Planner


def improved(planner: Planner, statement: Planned, span: Span | None) -> list[Edit]:
    """What is to stand in place of some pieces of the text; most statements have nothing to improve, and load none of
    what does it. Where the new text can't be planned, nothing is done: then the text as it is written tells what is
    wrong with it, at the place where it stands."""
    if not statement.parsed or planner.is_nested:
        return []
    ordered = _ordered(planner, statement, span) if len(statement.tables) > 2 else []
    if "with" not in statement.text.lower():
        return ordered
    from pinakes.engine.planning.optimize.share import around, share

    return around(share(planner, statement, span, ordered), ordered)


def _ordered(planner: Planner, statement: Planned, span: Span | None) -> list[Edit]:
    from pinakes.engine.planning.optimize.join_order import order_joins
    from pinakes.engine.planning.optimize.share import can_be_planned

    ordered = order_joins(planner, statement, span)
    return ordered if ordered and can_be_planned(planner, statement, span, ordered) else []
