"""Python variables as parameters: `$name` and `:name` are bound to the value of a variable and never part of the SQL
text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinakes.core.errors import InvalidArgument
from pinakes.parser.statements import Planned, Statement

Namespaces = Sequence[Mapping[str, Any]]
"""The namespaces for the lookup, the nearest first."""


def values_for(statement: Statement, namespaces: Namespaces) -> dict[str, Any]:
    """Returns the value of each parameter of a statement."""
    if not isinstance(statement, Planned):
        return {}
    return {mark.name: _value(mark.name, namespaces) for mark in statement.placeholders}


def _value(name: str, namespaces: Namespaces) -> Any:
    if name.isdigit():
        raise InvalidArgument(
            "? and $1 have no value here: write $name, which is the value of the Python variable of that name"
        )
    return variable(name, namespaces, f"parameter ${name}")


def variable(name: str, namespaces: Namespaces, what: str) -> Any:
    """Returns the value of a Python variable; `what` names its use in errors."""
    for namespace in namespaces:
        if name in namespace:
            return namespace[name]
    raise InvalidArgument(f"{what} has no value: there is no Python variable {name}. Set it first: {name} = …")
