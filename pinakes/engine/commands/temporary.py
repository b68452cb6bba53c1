"""What is special about temporary tables and views: they go with their session, and so does what they are made of."""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import Part
from pinakes.engine.binding.namespaces import Found
from pinakes.engine.planning.planner import Planner
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution


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
