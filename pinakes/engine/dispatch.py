"""Dispatch: from a statement to the handler of its kind (`commands/registry.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.engine.commands.registry import handler_of

if TYPE_CHECKING:
    from pinakes.engine.result import Result
    from pinakes.engine.statement_context import Execution
    from pinakes.parser.statements import Statement


def dispatch(statement: Statement, execution: Execution) -> Result:
    """Run one statement, if the user has the privileges for it."""
    execution.session.guard.statement(statement)
    return handler_of(statement.kind)(statement, execution)
