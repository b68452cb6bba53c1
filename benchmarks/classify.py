"""Promise: to classify a TPC-H query takes less than 0.5 ms cold and 20 µs from the statement cache.

The peers: sqlglot's own parse of the same texts, and a look-up in a dict.
"""

from __future__ import annotations

import sqlglot
from _harness import compare, promise, report
from _tpch import QUERIES

from pinakes.caches.registry import make_caches
from pinakes.config.model import CachesConfig
from pinakes.parser import classify


def main() -> None:
    texts = list(QUERIES.values())
    _cold(texts)
    _cached(texts)


def _cold(texts: list[str]) -> None:
    ours, peer = compare(
        lambda: [classify(text) for text in texts], lambda: [sqlglot.parse_one(text) for text in texts], calls=3
    )
    report(f"classify {len(texts)} TPC-H queries, cold", ours, peer, "sqlglot.parse_one")
    promise("CPU per query", ours.cpu / len(texts) * 1e3, 0.5, " ms")
    slowest = max(_alone(text) for text in texts)
    promise("CPU of the slowest query", slowest * 1e3, 0.5, " ms")


def _alone(text: str) -> float:
    return compare(lambda: classify(text), lambda: None, rounds=5, calls=20)[0].cpu


def _cached(texts: list[str]) -> None:
    statements = make_caches(CachesConfig(), classify).statements
    plain = {text: statements.classify(text) for text in texts}
    ours, peer = compare(
        lambda: [statements.classify(text) for text in texts], lambda: [plain[text] for text in texts], calls=200
    )
    report(f"classify {len(texts)} TPC-H queries, from the statement cache", ours, peer, "a dict")
    promise("CPU per query", ours.cpu / len(texts) * 1e6, 20, " µs")


if __name__ == "__main__":
    main()
