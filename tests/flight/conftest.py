"""One server process for all tests of a file, and a connection for each test."""

from __future__ import annotations

from collections.abc import Iterator

import adbc_driver_flightsql.dbapi as adbc
import pytest

from tests.flight.serving import Serving, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving() as running:
        yield running


@pytest.fixture
def connection(server: Serving) -> Iterator[adbc.Connection]:
    with server.connect() as connection:
        yield connection


@pytest.fixture
def cursor(connection: adbc.Connection) -> Iterator[adbc.Cursor]:
    with connection.cursor() as cursor:
        yield cursor
