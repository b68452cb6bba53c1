"""What the tests of REST catalogs share: an engine, and a proxy before the real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine
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
