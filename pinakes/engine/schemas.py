"""The schema that the rows of a plan will have.

A DataFrame tells its schema before DataFusion's analysis: there the columns of a UNION and the values of a CASE have
the type of the first one. The schema is therefore taken from the analysed plan. That plan is not what is run: a plan
that is optimised twice may lose a LIMIT.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa
from datafusion import DataFrame, SessionContext
from datafusion.plan import LogicalPlan
from pyarrow import types as is_

from pinakes.core.arrow_types import is_any_list
from pinakes.engine.errors import translated

_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def schema_of(frame: DataFrame) -> pa.Schema:
    with translated():
        return schema_of_plan(frame.optimized_logical_plan())


def schema_of_plan(optimized: LogicalPlan) -> pa.Schema:
    """The schema of a result. Views are DataFusion's own way to hold texts: whoever reads a result gets plain ones."""
    schema = _context().create_dataframe_from_logical_plan(optimized).schema()
    return pa.schema([f.with_type(_plain(f.type)) for f in schema], schema.metadata)


def _plain(t: pa.DataType) -> pa.DataType:
    if is_.is_struct(t):
        return pa.struct([f.with_type(_plain(f.type)) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(*(f.with_type(_plain(f.type)) for f in (t.key_field, t.item_field)))
    if is_any_list(t) and is_.is_list(t):
        return pa.list_(t.value_field.with_type(_plain(t.value_type)))
    return _VIEWS.get(t, t)


@cache
def _context() -> SessionContext:
    """Any context will do: nothing is run in it."""
    return SessionContext()
