"""EXECUTE name (arguments): the prepared statement with the values of its arguments bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pinakes.core.errors import InvalidArgument, PreparedNotFound, listing
from pinakes.engine.dispatch import dispatch
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.transactions.defining import defining
from pinakes.parser.statements import Execute, Planned, Statement

MOST = 65_535
"""The highest number of a parameter."""


def execute(statement: Execute, execution: Execution) -> Result:
    session = execution.session
    name = statement.name.exact
    if name not in session.prepared:
        raise PreparedNotFound(f"prepared statement '{name}' does not exist; there is: {listing(session.prepared)}")
    body = session.prepared[name]
    inner = session.engine.caches.statements.classify(body)
    names = parameter_names(inner)
    if isinstance(inner, Planned) and inner.parsed and len(names) != len(statement.arguments):
        raise InvalidArgument(f"'{name}' takes {len(names)} arguments and was given {len(statement.arguments)}")
    values = _evaluated(statement, execution)
    parameters = dict(zip(names or map(str, range(1, len(values) + 1)), values, strict=True))
    with defining(inner, session.warn):
        return dispatch(inner, replace(execution, text=body, parameters=parameters))


def parameter_names(inner: Statement) -> list[str]:
    """The parameters in the order of their arguments: $1 to the highest number, or names as they are first met."""
    found = [p.name for p in inner.placeholders] if isinstance(inner, Planned) else []
    if found and all(n.isdigit() for n in found):
        highest = max(map(int, found))
        if highest > MOST:
            raise InvalidArgument(f"parameters are numbered from $1 to ${MOST} at most, and there is ${highest}")
        return [str(n) for n in range(1, highest + 1)]
    return list(dict.fromkeys(found))


def _evaluated(statement: Execute, execution: Execution) -> list[Any]:
    """The arguments are expressions: their values, as Arrow scalars."""
    if not statement.arguments:
        return []
    text = ", ".join(f"{span.of(statement.text)} AS p{i}" for i, span in enumerate(statement.arguments))
    source = execution.session.engine.caches.statements.classify(f"SELECT {text}")
    if not isinstance(source, Planned):
        raise InvalidArgument("the arguments of EXECUTE must be expressions")
    row = execution.collect(execution.planner().query(source))
    return [column[0] for column in row.columns]
