"""Which caches had what a statement asked for: all of it, and what was asked for one relation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.engine.explain.facts import CacheUse

if TYPE_CHECKING:
    from pinakes.caches.tally import Asked

_STATEMENTS = "statements"


def cache_use(asked: Iterable[Asked]) -> dict[str, CacheUse]:
    """By the name of the cache, those that were asked; the texts that the parser remembers are no news here."""
    found = [a for a in asked if a.cache != _STATEMENTS]
    return {name: _use(a.hit for a in found if a.cache == name) for name in sorted({a.cache for a in found})}


def _use(hits: Iterable[bool]) -> CacheUse:
    found = list(hits)
    return CacheUse(sum(found), len(found) - sum(found))
