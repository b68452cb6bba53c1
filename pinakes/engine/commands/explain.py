"""EXPLAIN [ANALYZE] [VERBOSE] query: how it would be run; with ANALYZE it is, and each step tells its rows and time.

DataFusion's own plan, one row per plan type; of an INSERT, CREATE TABLE AS or COPY (query) TO that of the query in it.
A subquery that is computed once for several uses (`engine/planning/optimize`) has a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.engine.commands.explained import query_in
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Explain

if TYPE_CHECKING:
    from pinakes.engine.planning.optimize.compute import Computed

_FORMATS = {
    "TEXT": "indent",
    "INDENT": "indent",
    "TREE": "tree",
    "JSON": "pgjson",
    "PGJSON": "pgjson",
    "GRAPHVIZ": "graphviz",
}


def explain(statement: Explain, execution: Execution) -> Result:
    span = query_in(statement, execution)
    planner = execution.planner()
    words = ["EXPLAIN", "ANALYZE" * statement.analyze, "VERBOSE" * statement.verbose, _format(statement)]
    body = planner.rewrite(statement, span)
    execution.plans.dry = not statement.analyze
    result = execution.stream(planner.plan(" ".join(w for w in words if w) + " " + body.text, statement))
    return result.through(partial(_with_computed, result.schema, execution.plans.computed))


def _with_computed(
    schema: pa.Schema, computed: Sequence[Computed], plans: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What is computed first stands first."""
    if computed:
        told = [(f"computed once: {c.name}", c.told()) for c in computed]
        columns = [pa.array(column, f.type) for column, f in zip(zip(*told, strict=True), schema, strict=True)]
        yield pa.record_batch(columns, schema=schema)
    yield from plans


def _format(statement: Explain) -> str:
    if statement.format is None:
        return ""
    known = _FORMATS.get(statement.format.upper())
    if known is None:
        raise InvalidArgument(f"EXPLAIN has no format {statement.format}; there is: TEXT, TREE, JSON, GRAPHVIZ")
    return f"FORMAT {known}"
