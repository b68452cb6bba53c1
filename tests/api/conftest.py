"""A connection of its own for every test, on a catalog that goes with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pinakes


@pytest.fixture
def con() -> Iterator[pinakes.Connection]:
    with pinakes.connect(data=":memory:") as connection:
        yield connection
