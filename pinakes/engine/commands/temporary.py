"""What is special about temporary tables and views: they go with their session, and so does what they are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Part
from pinakes.engine.binding.namespaces import Found, Place
from pinakes.engine.planning.planner import Planner
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution

if TYPE_CHECKING:
    from pinakes.engine.catalogs.authorization.guard import Guard


def check_places(location: str | None, properties: Iterable[tuple[str, str]], place: Place, guard: Guard) -> None:
    """The location of a new table, and those among its properties. A temporary table has none: its files are removed
    with the session."""
    if location is not None and place.mount.is_private:
        raise InvalidArgument("a temporary table has no LOCATION: it lies where it goes with the session")
    guard.places(place.mount.mount, location, properties)


def check_readable(planner: Planner, view: Found, session: Session) -> None:
    """What a view reads must be there as long as the view is."""
    if view.place.mount.is_private:
        variables = [n for n in planner.relations.temporaries if session.temporary.find(Part(n, quoted=True)) is None]
        if variables:
            raise InvalidArgument(
                f"{variables[0]} is a Python variable: a view, which outlives it, cannot read it. Register it first."
            )
    elif planner.relations.temporaries or planner.relations.private:
        name = [*planner.relations.temporaries, *planner.relations.private][0]
        raise InvalidArgument(
            f"{name} is a temporary relation of this session: a view, which outlives the session, "
            f"cannot read it. Keep its rows in a table first: CREATE TABLE … AS SELECT …, or CREATE TEMP VIEW."
        )


def is_idle(execution: Execution) -> bool:
    """Whether no other statement of the session runs or has rows that were not read yet."""
    return all(query is execution.query or query.ended is not None for query in list(execution.session.running))
