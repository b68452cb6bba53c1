"""Python variables as parameters: `$name` and `:name` are the value of a variable, bound and never spliced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinakes.core.errors import InvalidArgument
from pinakes.parser.statements import Planned, Statement

Namespaces = Sequence[Mapping[str, Any]]
"""Where names are looked for, the nearest first."""


def values_for(statement: Statement, namespaces: Namespaces) -> dict[str, Any]:
    """The value of each parameter that a statement has."""
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
    """The value of a Python variable; `what` asks for it."""
    for namespace in namespaces:
        if name in namespace:
            return namespace[name]
    raise InvalidArgument(f"{what} has no value: there is no Python variable {name}. Set it first: {name} = …")
