"""`/metrics`: the server's metrics in the Prometheus format, collected per request.

Own metrics begin with `pinakes_` and are described in docs/how-to/operate-a-server.md; those that begin with
`process_` and `python_` come from prometheus_client.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from pinakes.caches.cache import CacheStats
from pinakes.core.version import __version__
from pinakes.engine.engine import Engine
from pinakes.server.ledger import Ledger

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Held(NamedTuple):
    """Numbers of objects that the Flight server holds."""

    calls: int
    sessions: int
    results: int
    prepared: int
    transactions: int


class Figures(Collector):
    def __init__(self, engine: Engine, ledger: Ledger, held: Callable[[], Held]) -> None:
        self._engine, self._ledger, self._held = engine, ledger, held

    def collect(self) -> Iterator[Metric]:
        yield _gauge("build_info", "The version that runs; always 1", ("version",), [((__version__,), 1)])
        yield from self._statements()
        yield from self._amounts()
        yield from self._caches()
        yield from self._catalogs()
        yield from self._bounded()

    def _statements(self) -> Iterator[Metric]:
        ledger = self._ledger
        alive = Counter(str(query.state) for query in self._engine.tracker.alive())
        states = [((state,), alive[state]) for state in ("QUEUED", "PLANNING", "RUNNING")]
        yield _gauge("queries", "Statements at this moment, by state", ("state",), states)
        yield _counter("queries", "Statements that ended, by last state and kind", ("state", "kind"),
                       ledger.ended.copy().items())  # fmt: skip
        codes = (((code,), n) for code, n in ledger.errors.copy().items())
        yield _counter("query_errors", "Statements that ended by an error, by its code", ("code",), codes)
        refused = self._engine.admission.refused if self._engine.admission is not None else 0
        yield _counter("queries_refused", "Statements that were not begun, since too many ran or waited", (),
                       [((), refused)])  # fmt: skip
        for name, spread, doc in (
            ("query_duration_seconds", ledger.elapsed, "From coming in to the last row"),
            ("query_queued_seconds", ledger.queued, "From coming in to being begun"),
        ):
            yield HistogramMetricFamily(f"pinakes_{name}", doc, buckets=spread.buckets(), sum_value=spread.sum)

    def _amounts(self) -> Iterator[Metric]:
        amounts = self._ledger.amounts.copy()
        for name, doc in _AMOUNTS.items():
            yield _counter(name, doc, (), [((), amounts[name])])

    def _caches(self) -> Iterator[Metric]:
        stats = self._engine.caches.stats()

        def each(value: Callable[[CacheStats], float]) -> list[tuple[tuple[str, ...], float]]:
            return [((cache.name,), value(cache)) for cache in stats]

        cache = ("cache",)
        yield _counter("cache_hits", "Answers that a cache had", cache, each(lambda c: c.hits))
        yield _counter("cache_misses", "Answers that a cache had not", cache, each(lambda c: c.misses))
        yield _counter("cache_load_failures", "Loads of a cache that failed", cache, each(lambda c: c.failures))
        yield _counter("cache_evictions", "Entries that made room for others", cache, each(lambda c: c.evictions))
        yield _gauge("cache_entries", "Entries that a cache holds", cache, each(lambda c: c.entries))

    def _catalogs(self) -> Iterator[Metric]:
        totals = self._engine.calls.totals()
        labels = ("catalog", "operation", "outcome")
        yield _counter("catalog_calls", "Calls of catalogs; outcome is ok or the code of an error", labels,
                       ((key, calls) for key, (calls, _) in totals.items()))  # fmt: skip
        yield _counter("catalog_call_seconds", "Seconds that these took", labels,
                       ((key, seconds) for key, (_, seconds) in totals.items()))  # fmt: skip

    def _bounded(self) -> Iterator[Metric]:
        """Yields the metrics of bounded resources."""
        admission, held = self._engine.admission, self._held()
        if admission is not None:
            crowd, limits = admission.crowd(), admission.limits
            yield _gauge("pool_capacity", "How much of a bounded thing there is", ("pool",),
                         [(("statements",), limits.running), (("queue",), limits.queued),
                          (("memory_bytes",), self._engine.config.engine.memory_limit)])  # fmt: skip
            yield _gauge("pool_in_use", "How much of it is in use", ("pool",),
                         [(("statements",), crowd.running), (("queue",), crowd.queued)])  # fmt: skip
        for name, amount in held._asdict().items():
            yield _gauge(f"flight_{name}", f"{name.capitalize()} of Flight clients that are held", (), [((), amount)])
        yield _gauge("threads", "Threads of the process, native ones too", (), [((), _threads())])
        yield _gauge("arrow_memory_bytes", "Memory that Arrow's own pool holds", (), [((), _arrow_bytes())])


_AMOUNTS = {
    "returned_rows": "Rows that statements gave",
    "returned_bytes": "Bytes of these in memory, about",
    "read_rows": "Rows that scans gave",
    "read_bytes": "Bytes that scans read of files",
    "written_rows": "Rows that were inserted, changed or deleted",
    "spilled_bytes": "Bytes that were written aside for want of memory",
}


def exposition(engine: Engine, ledger: Ledger, held: Callable[[], Held]) -> Callable[[], bytes]:
    """Returns the function that renders the page."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    registry.register(Figures(engine, ledger, held))
    return lambda: generate_latest(registry)


Values = Iterable[tuple[tuple[str, ...], float]]


def _gauge(name: str, doc: str, labels: tuple[str, ...], values: Values) -> Metric:
    return _filled(GaugeMetricFamily(f"pinakes_{name}", doc, labels=labels), values)


def _counter(name: str, doc: str, labels: tuple[str, ...], values: Values) -> Metric:
    return _filled(CounterMetricFamily(f"pinakes_{name}", doc, labels=labels), values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: Values) -> Metric:
    for labels, value in values:
        family.add_metric(labels, value)
    return family


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208 - only their number
    except OSError:  # other systems: Python threads only
        return threading.active_count()


def _arrow_bytes() -> int:
    import pyarrow as pa

    return int(pa.total_allocated_bytes())
