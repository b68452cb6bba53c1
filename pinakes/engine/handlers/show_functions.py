"""SHOW FUNCTIONS [IN x] [LIKE p]: what a query may call. The rows are those of system.metadata.functions."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.execution import Execution
from pinakes.engine.functions import Function, functions
from pinakes.engine.result import Result
from pinakes.parser.statements import ShowFunctions

_SCHEMA = pa.schema(
    [
        ("Function", pa.string()),
        ("Return Type", pa.string()),
        ("Argument Types", pa.string()),
        ("Function Type", pa.string()),
        ("Deterministic", pa.bool_()),
        ("Description", pa.string()),
    ]
)


def show_functions(statement: ShowFunctions, execution: Execution) -> Result:
    """Functions are in no catalog: IN one of its namespaces there are none."""
    found = functions()
    if statement.within is not None:
        execution.resolver.namespace(statement.within)
        found = ()
    return Result.rows(_SCHEMA, [_row(f) for f in found if statement.like is None or statement.like.matches(f.name)])


def _row(f: Function) -> tuple[object, ...]:
    return f.name, " | ".join(f.returns), " | ".join(f.arguments), f.kind, f.deterministic, f.description
