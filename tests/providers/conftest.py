"""What the tests of catalogs share: an engine, a proxy before the REST server, and a catalog of every type."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine
from tests.providers.kinds import EXCEPTIONS, KINDS, Lake, attached, new_name, store_secret
from tests.providers.proxy import Proxy, proxied
from tests.servers.base import Facts


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    return engine.session()


@pytest.fixture
def proxy(rest_server: Facts) -> Iterator[Proxy]:
    with proxied(rest_server["uri"]) as proxy:
        yield proxy


@pytest.fixture(params=KINDS)
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    """A catalog of each type on an engine of its own; what the type can't do is expected to fail (see kinds.py)."""
    kind = KINDS[request.param]
    if (found := EXCEPTIONS.get((request.param, request.node.originalname, ""))) is not None:
        error, reason = found
        chance = error is AssertionError  # whether two collide
        request.node.add_marker(pytest.mark.xfail(raises=error, reason=reason, strict=not chance))
    facts = request.getfixturevalue(f"{kind.server}_server") if kind.server else {}
    store = [store_secret(request.getfixturevalue(f"{kind.store}_server"))] if kind.store else []
    statements = [*store, *kind.attach(facts, tmp_path)]
    with an_engine() as engine:
        lake = Lake(request.param, statements, engine, attached(engine, statements), new_name())
        lake.run("CREATE SCHEMA {s}")
        yield lake
