"""Parquet files as a scan of DataFusion's own, of exactly the files that are given.

DataFusion's Python takes one path only. The plan of such a scan is made without touching a file, and its list of paths
is replaced in the plan's serialised form (`wire.py`). A scan of a thousand files is made in a millisecond so; a union
of a thousand scans takes most of a second to plan.

Statistics leave NaN out, while in SQL it is greater than every number: `v > 5` would lose the rows that have it. So
columns of floating numbers go through `unskipped`, which gives them back as they are, and nothing is skipped by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import zip_longest

import pyarrow as pa
from datafusion import DataFrame, Expr, ScalarUDF, SessionContext, udf
from datafusion import functions as f
from datafusion.plan import LogicalPlan

from pinakes.core.conform import uuid_text
from pinakes.engine.datafusion.plan_proto import PATHS, fields, only_field, with_bytes

UUID_TEXT = "$uuid"
"""The function that shows a uuid as text: in the same order as its bytes."""


def scan_of(context: SessionContext, urls: Iterable[str], schema: pa.Schema) -> DataFrame:
    """A scan of these files under a schema; a column that a file lacks is NULL there."""
    number, kept = template(schema)
    paths = b"".join(with_bytes(PATHS, url.encode()) for url in urls)
    plan = LogicalPlan.from_bytes(context, with_bytes(number, kept + paths))
    return context.create_dataframe_from_logical_plan(plan)


@lru_cache(maxsize=1000)
def template(schema: pa.Schema) -> tuple[int, bytes]:
    """A scan of nothing: its number among the kinds of nodes, and all of it but its paths."""
    context = SessionContext()
    template = context.read_parquet("/-.parquet", schema=schema, file_extension="", skip_metadata=True)
    number, scan = only_field(template.logical_plan().to_bytes(context))
    return number, b"".join(scan[f.start : f.end] for f in fields(scan, 0, len(scan)) if f.number != PATHS)


def unskipped(column: Expr) -> Expr:
    """A floating column as it is, and no row group, page or file is left out by its statistics."""
    return f.nanvl(column, column)


@cache
def uuid_as_text() -> ScalarUDF:
    """Shows 16 bytes as a uuid is written."""
    return udf(uuid_text, [pa.binary(16)], pa.string(), "immutable", UUID_TEXT)


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of all, in pairs, so that no plan is deeper than it must be."""
    frames = list(frames)
    while len(frames) > 1:
        frames = [a if b is None else a.union(b) for a, b in zip_longest(frames[::2], frames[1::2])]
    return frames[0]
