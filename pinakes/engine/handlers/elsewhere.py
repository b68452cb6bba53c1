"""Changes that another engine carries out: where it is asked for, or the estimate says so (`engine/choice.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.engine.choice import LOCAL, wanted_engine

if TYPE_CHECKING:
    from pinakes.engine.execution import Execution
    from pinakes.engine.remote_changes import Change


def elsewhere(statement: Change, execution: Execution) -> int | None:
    """The number of rows that were changed there; None if it is to be carried out here."""
    if wanted_engine(statement, execution.session.settings) == LOCAL:
        return None
    from pinakes.engine.remote_changes import carried_out

    return carried_out(statement, execution)
