"""EXECUTE name (arguments): the prepared statement with the values of its arguments bound."""

from __future__ import annotations

from typing import Any

from pinakes.core.errors import InvalidArgument, PreparedNotFound, listing
from pinakes.engine.dispatch import dispatch
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import Execute, Planned


def execute(statement: Execute, execution: Execution) -> Result:
    session = execution.session
    name = statement.name.exact
    if name not in session.prepared:
        raise PreparedNotFound(f"prepared statement '{name}' does not exist; there is: {listing(session.prepared)}")
    body = session.prepared[name]
    inner = session.engine.caches.statements.classify(body)
    wanted = {p.name for p in inner.placeholders} if isinstance(inner, Planned) else set()
    if isinstance(inner, Planned) and inner.parsed and len(wanted) != len(statement.arguments):
        raise InvalidArgument(f"'{name}' takes {len(wanted)} arguments and was given {len(statement.arguments)}")
    parameters = _evaluated(statement, execution)
    if wanted and not any(w.isdigit() for w in wanted):
        order = list(dict.fromkeys(p.name for p in inner.placeholders)) if isinstance(inner, Planned) else []
        parameters = dict(zip(order, parameters.values(), strict=True))
    return dispatch(inner, Execution(session, execution.query, body, parameters))


def _evaluated(statement: Execute, execution: Execution) -> dict[str, Any]:
    """The arguments are expressions: their values, as Arrow scalars, by position."""
    if not statement.arguments:
        return {}
    text = ", ".join(f"{span.of(statement.text)} AS p{i}" for i, span in enumerate(statement.arguments))
    source = execution.session.engine.caches.statements.classify(f"SELECT {text}")
    if not isinstance(source, Planned):
        raise InvalidArgument("the arguments of EXECUTE must be expressions")
    row = execution.collect(execution.planner().query(source))
    return {str(i): column[0] for i, column in enumerate(row.columns, 1)}
