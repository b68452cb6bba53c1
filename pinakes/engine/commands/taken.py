"""Whether a name is free for something new: tables and views of a namespace share their names."""

from __future__ import annotations

from pinakes.core.errors import TableExists, ViewExists
from pinakes.engine.binding.namespaces import Found, Kind


def check_free(existing: Found | None, kind: Kind, *, replace: bool) -> None:
    """Raise unless the name is free, or its owner is of the same kind and may be replaced."""
    if existing is None or (replace and existing.kind == kind):
        return
    taken = ViewExists if existing.kind == "VIEW" else TableExists
    if existing.kind != kind:
        raise taken(f"{existing} is a {existing.kind.lower()}: a {kind.lower()} cannot have its name. Drop it first.")
    raise taken(f"{kind.lower()} {existing} exists already; use CREATE OR REPLACE {kind}, or IF NOT EXISTS")
