"""The servers of the tests, for benchmarks that need a real one: started for the benchmark, stopped after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # `tests` is no part of the package


@contextmanager
def servers() -> Iterator[object]:
    """Gives what `start` takes."""
    from tests.servers.shared import SharedServers

    shared = SharedServers.new()
    try:
        yield shared
    finally:
        shared.close()


def start(shared: object, name: str) -> dict[str, str] | None:
    """How to connect to a server; None, and a line that says why, when it can't be had here."""
    from tests.servers.base import Unavailable
    from tests.servers.shared import SharedServers

    assert isinstance(shared, SharedServers)
    try:
        return dict(shared.get(name))
    except Unavailable as error:
        print(f"{name} is left out: {error}")
        return None
