"""Changes that another engine carries out: where it is asked for, or the estimate says so
(`engine/remote/engine_selection.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.engine.remote.engine_selection import LOCAL, wanted_engine

if TYPE_CHECKING:
    from pinakes.engine.remote.changes import Change
    from pinakes.engine.statement_context import Execution


def elsewhere(statement: Change, execution: Execution) -> int | None:
    """The number of rows that were changed there; None if it is to be carried out here."""
    if wanted_engine(statement, execution.session.settings) == LOCAL:
        return None
    from pinakes.engine.remote.changes import carried_out

    return carried_out(statement, execution)
