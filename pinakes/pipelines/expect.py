"""Declares expectations about the rows of a table, at the function that defines it:

from pyspark import pipelines as dp
from pinakes.pipeline.expect import expect

@dp.materialized_view
@expect("positive", "amount > 0", action="drop")
def orders(): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pinakes.core.errors import InvalidArgument
from pinakes.parser.spark.pipeline_files import Action, Constraint
from pinakes.parser.spark.references import predicate_fault

F = TypeVar("F", bound=Callable[..., Any])
_KEPT = "__pinakes_expectations__"
_ACTIONS = ("warn", "drop", "fail")


def expect(name: str, predicate: str, *, action: Action = "warn") -> Callable[[F], F]:
    """Declares an expectation: a row passes if the predicate is true. Rows that fail are counted (warn), left out
    (drop), or make the update fail, so that the table keeps its rows (fail). The decorator goes below that of
    pyspark.pipelines."""
    if action not in _ACTIONS:
        raise InvalidArgument(f"action is one of {', '.join(_ACTIONS)}, not {action!r}")
    if (fault := predicate_fault(predicate)) is not None:
        raise InvalidArgument(f"the expectation {name!r} is not a valid condition: {fault}")

    def keep(function: F) -> F:
        setattr(function, _KEPT, (Constraint(name, predicate, action), *expectations_of(function)))
        return function

    return keep


def expectations_of(function: Callable[..., Any]) -> tuple[Constraint, ...]:
    found: tuple[Constraint, ...] = getattr(function, _KEPT, ())
    return found
