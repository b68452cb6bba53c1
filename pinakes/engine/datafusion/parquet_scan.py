"""Parquet scans of DataFusion over an exact list of files.

DataFusion's Python API accepts a single path. The plan of such a scan is created without touching a file, and its list
of paths is replaced in the plan's serialised form (`plan_proto.py`). This creates a scan of a thousand files in a
millisecond; planning a union of a thousand scans takes most of a second.

Statistics leave out NaN, which is greater than every number in SQL: `v > 5` would lose such rows. And a NaN with its
sign bit, which other programs write, is less than every number in DataFusion. Floating-point columns are therefore
wrapped in `usual_nan`, which prevents pruning, and so are lists of them. The fields of a struct are read one by one:
`parser/typed` wraps them where they are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import zip_longest

import pyarrow as pa
from datafusion import DataFrame, Expr, ScalarUDF, SessionContext, lit, udf
from datafusion import functions as f
from datafusion.plan import LogicalPlan

from pinakes.core.arrays.conform import uuid_text
from pinakes.core.arrays.nan import holds_floats, usual_nan_array
from pinakes.engine.datafusion.plan_proto import PATHS, fields, only_field, with_bytes

UUID_TEXT = "$uuid"
"""The function that formats a UUID as text, which preserves the order of its bytes."""


def scan_of(context: SessionContext, urls: Iterable[str], schema: pa.Schema) -> DataFrame:
    """Returns a scan of these files with the given schema; columns that a file lacks are NULL."""
    number, kept = template(schema)
    paths = b"".join(with_bytes(PATHS, url.encode()) for url in urls)
    plan = LogicalPlan.from_bytes(context, with_bytes(number, kept + paths))
    return context.create_dataframe_from_logical_plan(plan)


@lru_cache(maxsize=1000)
def template(schema: pa.Schema) -> tuple[int, bytes]:
    """Returns the node number and the serialised form, without paths, of a scan."""
    context = SessionContext()
    template = context.read_parquet("/-.parquet", schema=schema, file_extension="", skip_metadata=True)
    number, scan = only_field(template.logical_plan().to_bytes(context))
    return number, b"".join(scan[f.start : f.end] for f in fields(scan, 0, len(scan)) if f.number != PATHS)


def usual_nan(column: Expr, type: pa.DataType, *, structs: bool = False) -> Expr:
    """Returns a column with one NaN, the one without a sign; the column itself if its type has none. Its values are
    excluded from pruning by row group, page or file statistics. With `structs`, all of a struct is read."""
    if pa.types.is_floating(type):
        return f.nanvl(column, _nan(type))
    if holds_floats(type) and (structs or not pa.types.is_struct(type)):
        return _nested_nan(type)(column)
    return column


@cache
def _nan(type: pa.DataType) -> Expr:
    return lit(pa.scalar(float("nan"), type))


@cache
def _nested_nan(type: pa.DataType) -> ScalarUDF:
    return udf(usual_nan_array, [type], type, "immutable", "$usual_nan")


@cache
def uuid_as_text() -> ScalarUDF:
    """Returns the function that formats 16 bytes as a UUID."""
    return udf(uuid_text, [pa.binary(16)], pa.string(), "immutable", UUID_TEXT)


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """Returns the union of all frames as a balanced tree, to keep the plan shallow."""
    frames = list(frames)
    while len(frames) > 1:
        frames = [a if b is None else a.union(b) for a, b in zip_longest(frames[::2], frames[1::2])]
    return frames[0]
