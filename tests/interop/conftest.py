"""One lake for all tests of a file, and the readers that it has beside us."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.engine.support import an_engine, do
from tests.interop.peers import DuckDB, Lake, Peer, PyIceberg, Spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    directory, name = tmp_path_factory.mktemp("lake"), f"shared_{uuid4().hex[:8]}"
    with an_engine() as engine:
        session = engine.session()
        do(session, f"ATTACH '{directory}' AS shared (TYPE sqlite, CATALOG_NAME '{name}')")
        do(session, "CREATE SCHEMA shared.s")
        do(session, "USE shared.s")
        yield Lake(directory, name, session)


@pytest.fixture(scope="module")
def pyiceberg() -> Iterator[PyIceberg]:
    peer = PyIceberg()
    yield peer
    peer.close()


@pytest.fixture(scope="module")
def duck() -> DuckDB:
    return DuckDB()


@pytest.fixture(scope="module")
def spark(lake: Lake, request: pytest.FixtureRequest) -> Spark:
    return Spark(request.getfixturevalue("spark_server")["uri"], lake)


@pytest.fixture(params=["pyiceberg", "duck", pytest.param("spark", marks=pytest.mark.slow)])
def peer(request: pytest.FixtureRequest) -> Peer:
    found: Peer = request.getfixturevalue(request.param)
    return found
