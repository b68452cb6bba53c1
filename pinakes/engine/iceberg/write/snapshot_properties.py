"""The author of a snapshot for its summary: user, query and engine.

The statement that runs in this thread sets it once (`engine/run.py`); commits read it here, so that no code path can
omit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pinakes.core.version import __version__

_AUTHOR: ContextVar[tuple[str, str]] = ContextVar("author")


@contextmanager
def authored(user: str, query_id: str) -> Iterator[None]:
    """Sets the user and the query of snapshots that are created in this block."""
    token = _AUTHOR.set((user, query_id))
    try:
        yield
    finally:
        _AUTHOR.reset(token)


def current() -> tuple[str, str] | None:
    """Returns the user and the query of this thread."""
    return _AUTHOR.get(None)


def properties() -> dict[str, str]:
    """Returns the properties of a snapshot's summary other than counts."""
    found = {"engine-name": "pinakes", "engine-version": __version__}
    author = current()
    if author is not None:
        found |= {"pinakes.user": author[0], "pinakes.query-id": author[1]}
    return found
