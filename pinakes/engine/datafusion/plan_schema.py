"""The schema of the rows of a plan.

`DataFrame.schema` is the schema before DataFusion's analysis, in which the columns of a UNION and the values of a CASE
have the type of the first one. The schema is therefore taken from the analysed plan. That plan is not run: a plan that
is optimised twice can lose a LIMIT.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa
from datafusion import DataFrame, SessionContext
from datafusion.plan import LogicalPlan
from pyarrow import types as is_

from pinakes.engine.datafusion.error_translation import translated
from pinakes.parser.projections import names_as_written


def schema_of(frame: DataFrame) -> pa.Schema:
    with translated():
        return schema_of_plan(frame.optimized_logical_plan())


def analysed_schema(frame: DataFrame) -> pa.Schema:
    """With the types that DataFusion itself works with."""
    with translated():
        return _context().create_dataframe_from_logical_plan(frame.optimized_logical_plan()).schema()


def schema_of_plan(optimized: LogicalPlan) -> pa.Schema:
    schema = _context().create_dataframe_from_logical_plan(optimized).schema()
    names = names_as_written(schema.names)
    return pa.schema([f.with_type(without_views(f.type)).with_name(n) for f, n in zip(schema, names, strict=True)])


def without_views(t: pa.DataType) -> pa.DataType:
    """The type without Arrow's newer layouts of texts, which few others can read: they are DataFusion's own affair."""
    if is_.is_string_view(t):
        return pa.string()
    if is_.is_binary_view(t):
        return pa.binary()
    if is_.is_map(t):
        fields = [field.with_type(without_views(field.type)) for field in (t.key_field, t.item_field)]
        return t if fields == [t.key_field, t.item_field] else pa.map_(*fields)  # a key of no type can't be made again
    if is_.is_list(t):
        return pa.list_(t.value_field.with_type(without_views(t.value_type)))
    if is_.is_struct(t):
        return pa.struct([f.with_type(without_views(f.type)) for f in t.fields])
    return t


@cache
def _context() -> SessionContext:
    """Any context will do: nothing is run in it."""
    return SessionContext()
