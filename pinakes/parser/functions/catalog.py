"""All functions of this package by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.parser.functions import aggregates, dates, lists, others, texts

if TYPE_CHECKING:
    from pinakes.parser.functions.rule import Rule, Typed, Write

RULES: dict[str, Rule] = {
    name: rule
    for rules in (aggregates.RULES, dates.RULES, lists.RULES, others.RULES, texts.RULES)
    for name, rule in rules.items()
}
UNTYPED: dict[str, Write] = {name: rule.write for name, rule in RULES.items() if rule.write is not None}
"""Rewrites of calls that do not depend on types."""
TYPED: dict[str, Typed] = {
    **{name: rule.typed for name, rule in RULES.items() if rule.typed is not None},
    **lists.INTERNAL,
    **others.INTERNAL,
}
"""Rewrites that depend on types; None of one that leaves a call as it is."""
