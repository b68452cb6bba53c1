"""Puts the aggregates of a SELECT below its subqueries."""

from __future__ import annotations

from pinakes.parser.subqueries.joins import Edit
from pinakes.parser.subqueries.names import Place, Resolved


def split_grouped(text: str, resolved: Resolved, place: Place, number: int) -> list[Edit] | None:
    return None
