"""Who makes a snapshot, for its summary: the user and the query, and this engine.

The statement that runs in this thread is told once (`engine/run.py`); whatever commits on its behalf asks here, so that
no path to a commit can forget it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pinakes.core.version import __version__

_AUTHOR: ContextVar[tuple[str, str]] = ContextVar("author")


@contextmanager
def authored(user: str, query_id: str) -> Iterator[None]:
    """Snapshots that are made within this are by this user and this query."""
    token = _AUTHOR.set((user, query_id))
    try:
        yield
    finally:
        _AUTHOR.reset(token)


def current() -> tuple[str, str] | None:
    """The user and the query that this thread works for."""
    return _AUTHOR.get(None)


def properties() -> dict[str, str]:
    """What the summary of a snapshot says besides numbers."""
    found = {"engine-name": "pinakes", "engine-version": __version__}
    author = current()
    if author is not None:
        found |= {"pinakes.user": author[0], "pinakes.query-id": author[1]}
    return found
