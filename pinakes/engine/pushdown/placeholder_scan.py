"""Placeholder scans: each stands for a table or a subquery while a statement is planned.

DataFusion pushes predicates to a placeholder as to any scan of files. `scan_requests.py` reads from the optimised plan
what is asked of each, and the statement is planned again over the answers.
"""

from __future__ import annotations

import itertools
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from datafusion import DataFrame, SessionContext
from datafusion import Table as Provider
from datafusion.plan import LogicalPlan

from pinakes.engine.datafusion.parquet_scan import template
from pinakes.engine.datafusion.plan_proto import PATHS, TABLE_NAME, fields, with_bytes

_NUMBERS = itertools.count(1)
_TOKEN = secrets.token_hex(16)
"""Random, so that no text in a query can equal the name or the path of a placeholder."""
PLACEHOLDER_PREFIX = re.compile(rf"\$scan:{_TOKEN}:\d+:\.")
"""What DataFusion prints before the columns of a placeholder."""
_NOT_PARQUET = Path(__file__).as_uri().encode()


@dataclass(frozen=True, slots=True, eq=False)
class Placeholder:
    name: str
    """The name of its scans in plans."""
    path: bytes
    """One of the files that it would read, by which its scans are found in a serialised plan."""
    frame: DataFrame = field(repr=False)
    """The scan. It cannot be run: it would read this module as a Parquet file, and fail."""

    @property
    def provider(self) -> Provider:
        return self.frame.into_view()

    @property
    def shown(self) -> str:
        """Returns how a printed plan begins each of its scans."""
        return f"TableScan: {self.name}"


def placeholder_scan(schema: pa.Schema, context: SessionContext) -> Placeholder:
    number, scan = template(schema)
    serial = next(_NUMBERS)
    name, path = f"$scan:{_TOKEN}:{serial}:", f"file:///{_TOKEN}/{serial}/".encode()
    kept = b"".join(scan[f.start : f.end] for f in fields(scan, 0, len(scan)) if f.number != TABLE_NAME)
    called = with_bytes(TABLE_NAME, with_bytes(1, with_bytes(1, name.encode())))
    paths = with_bytes(PATHS, _NOT_PARQUET) + with_bytes(PATHS, path)
    plan = LogicalPlan.from_bytes(context, with_bytes(number, kept + called + paths))
    return Placeholder(name, path, context.create_dataframe_from_logical_plan(plan))
