"""TPC-H and TPC-DS as Trino, DuckDB, PostgreSQL and Spark write them: every query has DuckDB's answer.

The texts are DuckDB's own, which sqlglot converts to each dialect when the test runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot

from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.support import an_engine
from tests.engine.tpc import add_table, difference, generate, peer, queries

SCALE = 0.01
DIALECTS = ("trino", "duckdb", "postgres", "spark")
Both = tuple[Session, duckdb.DuckDBPyConnection, dict[int, str]]


def _both(benchmark: str, directory: Path) -> Iterator[Both]:
    with peer(benchmark) as theirs, an_engine() as engine:
        session = engine.session()
        for name in generate(theirs, benchmark, SCALE, directory):
            add_table(session, name, directory / f"{name}.parquet")
        yield session, theirs, queries(theirs, benchmark)


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    yield from _both("tpch", tmp_path_factory.mktemp("tpch"))


@pytest.fixture(scope="module")
def tpcds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    yield from _both("tpcds", tmp_path_factory.mktemp("tpcds"))


def differences(both: Both, dialect: str, every: int = 1) -> dict[int, str]:
    session, theirs, asked = both
    session.run(f"SET dialect = '{dialect}'")
    found = dict[int, str]()
    for number, query in list(asked.items())[::every]:
        text = query if dialect == "duckdb" else sqlglot.transpile(query, read="duckdb", write=dialect)[0]
        try:
            ours = session.run(text).read_all()
        except PinakesError as error:
            found[number] = f"{type(error).__name__}: {error}"
            continue
        words = difference(ours, theirs.execute(query).to_arrow_table())
        if words:
            found[number] = words
    return found


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_tpch_has_the_same_answers_in_every_dialect(tpch: Both, dialect: str) -> None:
    assert len(tpch[2]) == 22
    assert differences(tpch, dialect) == {}


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_tpcds_has_the_same_answers_in_every_dialect(tpcds: Both, dialect: str) -> None:
    assert len(tpcds[2]) == 99
    assert differences(tpcds, dialect) == {}
