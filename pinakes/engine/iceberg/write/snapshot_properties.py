"""The author of a snapshot for its summary: user, query and engine.

The statement that runs in this thread sets it once (`engine/run.py`); commits read it here, so that no code path can
omit it.
"""

from __future__ import annotations

from contextvars import ContextVar

from pinakes.core.version import __version__

SOURCE_SNAPSHOT = "source-snapshot-id"
"""The property in which cherrypick_snapshot records the snapshot that it copies."""

AUTHOR: ContextVar[tuple[str, str] | None] = ContextVar("author", default=None)
"""The user and the query of snapshots that this thread creates."""


def properties() -> dict[str, str]:
    """Returns the properties of a snapshot's summary other than counts."""
    found = {"engine-name": "pinakes", "engine-version": __version__}
    author = AUTHOR.get()
    if author is not None:
        found |= {"pinakes.user": author[0], "pinakes.query-id": author[1]}
    return found
