"""TPC-H and TPC-DS at a small scale: every query has DuckDB's answer, as it comes and with all that is quicker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pinakes.engine.planning.optimize import compute, join_order, orders
from pinakes.engine.session import Session
from tests.engine.support import an_engine, how_many
from tests.engine.tpc import add_table, difference, generate, peer, queries

pytestmark = pytest.mark.slow

SCALE = 0.01
Both = tuple[Session, duckdb.DuckDBPyConnection, dict[int, str]]


@pytest.fixture(scope="module", params=["tpch", "tpcds"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    directory: Path = tmp_path_factory.mktemp(request.param)
    with peer(request.param) as theirs, an_engine() as engine:
        session = engine.session()
        for name in generate(theirs, request.param, SCALE, directory):
            add_table(session, name, directory / f"{name}.parquet")
        yield session, theirs, queries(theirs, request.param)


def differences(both: Both, every: int = 1) -> dict[int, str]:
    """The queries whose answer is not DuckDB's; with `every` = 3, one of three queries of TPC-DS is run."""
    session, theirs, asked = both
    chosen = dict(list(asked.items())[:: every if len(asked) > 22 else 1])
    found = {n: difference(session.run(q).read_all(), theirs.execute(q).to_arrow_table()) for n, q in chosen.items()}
    return {number: words for number, words in found.items() if words}


def test_every_query_has_the_answer_of_duckdb(both: Both) -> None:
    assert len(both[2]) in (22, 99)
    assert differences(both) == {}


def test_the_order_of_joins_does_not_matter(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every FROM clause is put into the order that is estimated to be best, however small its tables."""
    changed: list[object] = []
    better = join_order.better_order
    monkeypatch.setattr(join_order, "WORTH", 0)
    monkeypatch.setattr(orders, "MUCH_LESS", 1.0)
    monkeypatch.setattr(join_order, "better_order", lambda sizes: changed.append(found := better(sizes)) or found)
    both[0].engine.caches.plans.cache.clear()  # else none is planned
    assert differences(both, how_many(3, 1)) == {}
    assert len([order for order in changed if order is not None]) > 5


def test_subqueries_are_kept_in_a_file(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "IN_MEMORY", 1000)
    assert differences(both, how_many(3, 1)) == {}
