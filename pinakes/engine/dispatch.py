"""Dispatch: privileges are checked, calls of SQL functions are expanded, the engine is selected, and the handler of the
statement's kind is called (`commands/registry.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pinakes.core.engines import LOCAL
from pinakes.core.errors import PinakesError
from pinakes.engine.commands.registry import REMOTE, handler_of
from pinakes.engine.remote.engine_selection import wanted_engine
from pinakes.parser.statements import Planned

if TYPE_CHECKING:
    from pinakes.engine.result import Result
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Statement


def dispatch(statement: Statement, execution: Execution) -> Result:
    """Run one statement, if the user has the privileges for it."""
    execution.session.guard.statement(statement)
    if isinstance(statement, Planned) and "(" in statement.text:
        from pinakes.engine.binding.sql_functions import expanded_statement, positions_before

        expanded = expanded_statement(statement, execution.session, execution.resolver)
        if expanded is not None:
            with positions_before(expanded.text):
                return _handled(expanded.statement, execution)
    return _handled(statement, execution)


def _handled(statement: Statement, execution: Execution) -> Result:
    if statement.kind in REMOTE and wanted_engine(statement, execution.session.settings) != LOCAL:
        from pinakes.engine.commands.select_engine import select_engine

        execution = replace(execution, engine=select_engine(statement, execution))
    with in_user_text(statement):
        return handler_of(statement.kind)(statement, execution)


@contextmanager
def in_user_text(statement: Statement) -> Iterator[None]:
    """Gives an error its position in the user's text, if the statement was written out of that."""
    try:
        yield
    except PinakesError as error:
        if statement.origin is not None and error.position is not None:
            error.position = statement.origin.position(error.position)
        raise
