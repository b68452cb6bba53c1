"""Python variables as tables: a name that neither the session nor a catalog knows is looked up in the caller's
variables.

As in Python, a local variable hides a global one of the same name; outer frames are not searched. Names are
case-sensitive. `SET python_scan = false` disables the lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pinakes.engine.binding.session_relations import Lookup, Source

Scopes = Callable[[], tuple[Mapping[str, Any], ...]]
"""Returns the scopes, the nearest first."""


@contextmanager
def variables(scopes: Scopes) -> Iterator[Lookup]:
    """Provides a lookup in these scopes for the block only, so that an unread result does not keep the caller's
    variables alive."""
    known = [scopes]

    def lookup(name: str) -> Source | None:
        from pinakes.api.inputs import is_tabular, source_of  # lazy: loads Arrow's datasets, which is slow

        scope = next((s for give in known for s in give() if name in s), {})
        value = scope.get(name)
        return source_of(value, f"the variable {name}") if is_tabular(value) else None

    try:
        yield lookup
    finally:
        known.clear()


def scopes_of(frame: FrameType) -> Scopes:
    """Returns the variables of a frame. They are read on demand, since Python copies the local ones."""
    return lambda: (frame.f_locals, frame.f_globals)
