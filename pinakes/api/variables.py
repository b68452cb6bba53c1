"""Python variables as tables: who calls is asked for names that neither the session nor a catalog has.

As in Python, a local variable hides a global one of its name; the frames further up are not looked at. A name is taken
as it is written in the statement, upper and lower case as it is. `SET python_scan = false` turns it off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pinakes.api.inputs import is_tabular, source_of
from pinakes.engine.temporary import Lookup, Source


@contextmanager
def variables(*scopes: Mapping[str, Any]) -> Iterator[Lookup]:
    """A lookup among these scopes, the nearest first. It ends with the block: a plan that goes on being read does not
    keep the caller's variables alive."""
    known = list(scopes)

    def lookup(name: str) -> Source | None:
        scope = next((s for s in known if name in s), {})
        value = scope.get(name)
        return source_of(value, f"the variable {name}") if is_tabular(value) else None

    try:
        yield lookup
    finally:
        known.clear()


def scopes_of(frame: FrameType) -> tuple[Mapping[str, Any], ...]:
    return (frame.f_locals, frame.f_globals)
