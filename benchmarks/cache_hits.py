"""Promises: in a run of the 99 TPC-DS queries from empty caches, what is known of catalogs, tables and files comes from
a cache in more than 95 of 100 cases; in a second run that holds for each cache.

    python benchmarks/cache_hits.py [--data DIRECTORY] [--scale 0.1]

The rate of a cache is hits / (hits + misses), over what a run asked of it. A query whose plan can't be kept, since a
part of it is computed once, ahead, asks for one all the same: plans are held to those that were kept. Entries do not
grow old here, so that a slow machine has the rates of a quick one. The data is made as for `tpcds.py`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _extensions import generated, queries
from _harness import promise
from _race import Run, ours

import pinakes
from pinakes.caches.registry import Caches

Asked = dict[str, tuple[int, int]]
"""Hits and misses by cache."""

LASTING = ("listings", "table_metadata", "session_catalogs", "plans")
METADATA = ("listings", "table_metadata", "session_catalogs", "manifests", "footers")


def main() -> None:
    arguments = _arguments()
    asked = queries("tpcds")
    if not asked:
        print("no queries: install duckdb-extension-tpcds, for the version of duckdb that is installed")
        return
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or generated("tpcds", arguments.scale, Path(scratch, "data"))
        assert data is not None  # there is the extension, or there would be no queries
        with pinakes.connect(data=f"{scratch}/lake") as connection:
            run = ours(connection, data)
            caches = connection.session.engine.caches
            for name in LASTING:
                connection.execute(f"SET GLOBAL cache.{name}.ttl = 0")
            caches.clear()
            first = _told("from empty caches", run, asked.values(), caches)
            promise("misses, of what is known of catalogs, tables and files", _missed(first, METADATA), 0.05)
            kept = caches.plans.stats().entries
            second = _told("once more", run, asked.values(), caches)
            for name in second.keys() - {"plans"}:
                promise(f"misses of {name}", _missed(second, [name]), 0.05)
            promise(f"misses of the {kept} plans that were kept", 1 - second["plans"][0] / kept, 0.05)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scale", default="0.1")
    return parser.parse_args()


def _told(title: str, run: Run, asked: Iterable[str], caches: Caches[Any]) -> Asked:
    """Run the queries, and tell what they asked of each cache."""
    before = {stats.name: stats for stats in caches.stats()}
    for sql in asked:
        run(sql)
    found = {
        now.name: (now.hits - before[now.name].hits, now.misses - before[now.name].misses) for now in caches.stats()
    }
    found = {name: counts for name, counts in found.items() if sum(counts)}
    print(title)
    for name, (hits, misses) in found.items():
        print(f"  {name:18} {hits:7} hits {misses:6} misses   {hits / (hits + misses):.1%}")
    return found


def _missed(found: Asked, names: Iterable[str]) -> float:
    """The share of misses of some caches together."""
    known = [found[name] for name in names if name in found]
    return sum(misses for _, misses in known) / sum(hits + misses for hits, misses in known)


if __name__ == "__main__":
    main()
