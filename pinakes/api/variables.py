"""Python variables as tables: who calls is asked for names that neither the session nor a catalog has.

As in Python, a local variable hides a global one of its name; the frames further up are not looked at. A name is taken
as it is written in the statement, upper and lower case as it is. `SET python_scan = false` turns it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pinakes.engine.binding.session_relations import Lookup, Source

Scopes = Callable[[], tuple[Mapping[str, Any], ...]]
"""Gives the scopes, the nearest first."""


@contextmanager
def variables(scopes: Scopes) -> Iterator[Lookup]:
    """A lookup among these scopes. It ends with the block: a result that is still to be read does not keep the
    caller's variables alive."""
    known = [scopes]

    def lookup(name: str) -> Source | None:
        from pinakes.api.inputs import is_tabular, source_of  # loads Arrow's datasets, which take their time

        scope = next((s for give in known for s in give() if name in s), {})
        value = scope.get(name)
        return source_of(value, f"the variable {name}") if is_tabular(value) else None

    try:
        yield lookup
    finally:
        known.clear()


def scopes_of(frame: FrameType) -> Scopes:
    """The variables of a frame; not looked at before they are needed, since Python then copies the local ones."""
    return lambda: (frame.f_locals, frame.f_globals)
