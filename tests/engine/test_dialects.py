"""TPC-H and TPC-DS as Trino, DuckDB, PostgreSQL and Spark write them: every query has DuckDB's answer.

The texts are DuckDB's own, which sqlglot converts to each dialect when the test runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot

from pinakes.core.errors import NotSupportedError, PinakesError
from pinakes.core.names import Name
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


@pytest.mark.parametrize(
    ("dialect", "sql", "expected"),
    [
        ("trino", "SELECT day_of_week(DATE '2020-02-02') AS x", 7),
        ("spark", "SELECT dayofweek(DATE '2020-02-02') AS x", 1),
        ("SPARK", 'SELECT length("ab") AS x', 2),
    ],
)
def test_a_view_of_another_engine_is_read_in_its_dialect(dialect: str, sql: str, expected: int) -> None:
    with an_engine() as engine:
        session = engine.session()
        store_view(session, dialect, sql)
        assert session.run("SELECT x FROM v").read_all().to_pylist() == [{"x": expected}]


def test_a_view_that_can_not_be_translated_is_refused() -> None:
    with an_engine() as engine:
        session = engine.session()
        store_view(session, "trino", "SELECT try(1) AS x")
        with pytest.raises(NotSupportedError, match="the function try of Trino is not translated") as caught:
            session.run("SELECT x FROM v").read_all()
        assert caught.value.position is None


def store_view(session: Session, dialect: str, sql: str) -> None:
    session.run("CREATE VIEW v AS SELECT CAST(1 AS BIGINT) AS x").read_all()
    found = session.resolver.find(Name.of("v"), kind="VIEW")
    catalog: Any = found.place.mount.catalog
    view = catalog.load_view(found.place.namespace, "v")
    catalog.create_view(found.place.namespace, "v", replace(view, dialect=dialect, sql=sql), replace=True)


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
