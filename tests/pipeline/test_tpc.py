"""TPC-H and TPC-DS on both engines: the same rows, or refused. A sample in the normal run, all in the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.core.errors import NotSupportedError
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine import tpc
from tests.engine.support import LONG
from tests.pipeline.support import on_spark, refusal

pytestmark = pytest.mark.slow

SCALE = 0.01
SAMPLE = {"tpch": (1, 5, 13, 16, 18, 21, 22), "tpcds": (1, 13, 25, 47, 67, 88)}
COUNTS = {"tpch": 22, "tpcds": 99}
REFUSED: dict[str, tuple[int, ...]] = {"tpch": (), "tpcds": (78,)}
"""Those that Spark is not asked, since a part of them is not known to agree."""
UNREADABLE = {"tpch": (), "tpcds": (70, 86)}
"""Those that Spark itself does not take: GROUPING in ORDER BY, or of a column of a table that is there twice."""


def numbers(benchmark: str) -> list[int]:
    return list(range(1, COUNTS[benchmark] + 1)) if LONG else list(SAMPLE[benchmark])


def cases() -> list[tuple[str, int]]:
    return [(benchmark, number) for benchmark in COUNTS for number in numbers(benchmark)]


class Loaded:
    """The tables of a benchmark in a namespace of their own, made when its first query comes."""

    def __init__(self, engine: Engine, directory: Path) -> None:
        self._engine = engine
        self._directory = directory
        self._sessions: dict[str, tuple[Session, dict[int, str]]] = {}

    def get(self, benchmark: str) -> tuple[Session, dict[int, str]]:
        if benchmark not in self._sessions:
            session, connection = self._engine.session(), tpc.peer(benchmark)
            session.run(f"CREATE SCHEMA lake.{benchmark}").read_all()
            session.run(f"USE lake.{benchmark}").read_all()
            place = self._directory / benchmark
            place.mkdir()
            for name in tpc.generate(connection, benchmark, SCALE, place):
                tpc.add_table(session, name, place / f"{name}.parquet")
            self._sessions[benchmark] = session, tpc.queries(connection, benchmark)
        return self._sessions[benchmark]


@pytest.fixture(scope="module")
def loaded(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return Loaded(engine, tmp_path_factory.mktemp("tpc"))


@pytest.mark.parametrize(("benchmark", "number"), cases())
def test_the_answers_are_the_same(loaded: Loaded, benchmark: str, number: int) -> None:
    session, queries = loaded.get(benchmark)
    sql = queries[number]
    if number in REFUSED[benchmark]:
        assert refusal(session, sql) is not None
        return
    if number in UNREADABLE[benchmark]:
        with pytest.raises(NotSupportedError, match="GROUPING"):
            on_spark(session, sql)
        return
    here, there = session.run(sql).read_all(), on_spark(session, sql)
    assert here.schema.equals(there.schema)
    assert tpc.difference(there, here) == ""
