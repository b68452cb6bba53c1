"""Cache hits and misses of a statement, in total and per relation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.engine.explain.facts import CacheUse

if TYPE_CHECKING:
    from pinakes.caches.lookups import Lookup

_STATEMENTS = "statements"


def cache_use(lookups: Iterable[Lookup]) -> dict[str, CacheUse]:
    """Returns hits and misses by cache name, without the cache of parsed statements."""
    found = [a for a in lookups if a.cache != _STATEMENTS]
    return {name: _use(a.hit for a in found if a.cache == name) for name in sorted({a.cache for a in found})}


def _use(hits: Iterable[bool]) -> CacheUse:
    found = list(hits)
    return CacheUse(sum(found), len(found) - sum(found))
