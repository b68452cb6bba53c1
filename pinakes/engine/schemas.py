"""The schema that the rows of a plan will have.

A DataFrame tells its schema before DataFusion's analysis: there the columns of a UNION and the values of a CASE have
the type of the first one. The schema is therefore taken from the analysed plan. That plan is not what is run: a plan
that is optimised twice may lose a LIMIT.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa
from datafusion import DataFrame, SessionContext

from pinakes.engine.errors import translated


def schema_of(frame: DataFrame) -> pa.Schema:
    with translated():
        return _context().create_dataframe_from_logical_plan(frame.optimized_logical_plan()).schema()


@cache
def _context() -> SessionContext:
    """Any context will do: nothing is run in it."""
    return SessionContext()
