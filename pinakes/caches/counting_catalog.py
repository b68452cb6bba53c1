"""A catalog wrapper that counts calls: their number, duration and outcome. It is inside the caches, so only calls that
reach the catalog are counted. A server exposes the counts in `/metrics`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from pinakes.core import catalog as groups
from pinakes.core.catalog import Catalog
from pinakes.core.delegating_catalog import DelegatingCatalog, class_around
from pinakes.core.errors import NotFoundError, PinakesError

MOST_CATALOGS = 200
"""The maximum number of catalogs counted separately: users may attach any number, and each adds lines to `/metrics`
permanently.
"""
OTHERS = "(others)"


class CallKey(NamedTuple):
    catalog: str
    operation: str
    outcome: str
    """`ok`, or the error code."""


class CatalogCalls:
    """Calls and their seconds since the engine started. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._names: set[str] = set()
        self._totals: dict[CallKey, tuple[int, float]] = {}

    def totals(self) -> dict[CallKey, tuple[int, float]]:
        with self._lock:
            return dict(self._totals)

    @contextmanager
    def counting(self, catalog: str, operation: str) -> Iterator[None]:
        began, outcome = self._clock(), "ok"
        try:
            yield
        except NotFoundError:  # a normal outcome
            raise
        except BaseException as error:
            outcome = error.code if isinstance(error, PinakesError) else type(error).__name__
            raise
        finally:
            self._add(catalog, operation, outcome, self._clock() - began)

    def _add(self, catalog: str, operation: str, outcome: str, seconds: float) -> None:
        with self._lock:
            if catalog not in self._names and len(self._names) >= MOST_CATALOGS:
                catalog = OTHERS
            self._names.add(catalog)
            key = CallKey(catalog, operation, outcome)
            calls, spent = self._totals.get(key, (0, 0.0))
            self._totals[key] = calls + 1, spent + seconds


class CountingCatalog(DelegatingCatalog):
    """The base class; `counting` adds the groups."""

    def __init__(self, inner: Any, name: str, calls: CatalogCalls) -> None:
        super().__init__(inner)
        self._name = name
        self._calls = calls

    def check(self) -> None:
        with self._calls.counting(self._name, "check"):
            self.inner.check()

    def close(self) -> None:
        self.inner.close()


def count_calls(inner: Catalog, name: str, calls: CatalogCalls) -> CountingCatalog:
    """Returns a counting catalog with the groups of `inner`."""
    return class_around(inner, CountingCatalog, _counting_groups())(inner, name, calls)


@cache
def _counting_groups() -> dict[Any, type[CountingCatalog]]:
    """Returns a generated mix-in for each group, which counts every method under its name."""
    found = [g for name, g in vars(groups).items() if name.startswith(("Supports", "Explains"))]
    return {group: type(group.__name__, (CountingCatalog,), _members(group)) for group in found}


def _members(group: type) -> dict[str, Any]:
    every = {name: member for base in reversed(group.__mro__) for name, member in vars(base).items()}
    named = {name: member for name, member in every.items() if not name.startswith("_") and name not in vars(Catalog)}
    return {name: _delegate(name) if isinstance(member, property) else _count(name) for name, member in named.items()
            if isinstance(member, property) or callable(member)}  # fmt: skip


def _delegate(name: str) -> property:
    return property(lambda self: getattr(self.inner, name))


def _count(name: str) -> Callable[..., Any]:
    def call(self: CountingCatalog, *arguments: Any, **named: Any) -> Any:
        with self._calls.counting(self._name, name):
            return getattr(self.inner, name)(*arguments, **named)

    call.__name__ = name
    return call
