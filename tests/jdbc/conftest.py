"""One JVM for the process, one server process for all tests of a file, and a connection for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.flight.serving import Serving, serving
from tests.jdbc import driver
from tests.servers.base import Unavailable
from tests.servers.plugin import unavailable


@pytest.fixture(scope="session", autouse=True)
def _jvm() -> Iterator[None]:
    try:
        driver.start()
    except Unavailable as error:
        unavailable("flight-sql-jdbc-driver", str(error))
    yield
    driver.close_all()


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as running:
        yield running


@pytest.fixture
def connection(server: Serving) -> Iterator[Any]:
    connection = driver.connect(server.port)
    yield connection
    connection.close()


@pytest.fixture
def connection_to_cancel(server: Serving) -> Any:
    """A connection that `close_all` closes. After a cancel, `close` may report a buffer of the driver as a leak."""
    return driver.connect(server.port)
