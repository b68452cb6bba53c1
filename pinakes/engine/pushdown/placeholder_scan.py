"""Placeholder scans: they stand for a system table while a query is planned, and have an unguessable name.

DataFusion pushes predicates to a placeholder as to any scan of files. Then the rows are read, and the query is planned
again over them (`engine/pushdown/scan_pushdown.py`).
"""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass

import pyarrow as pa
from datafusion import SessionContext
from datafusion import Table as Provider
from datafusion.plan import LogicalPlan

from pinakes.engine.datafusion.parquet_scan import template
from pinakes.engine.datafusion.plan_proto import PATHS, TABLE_NAME, fields, with_bytes

_NUMBERS = itertools.count(1)
_TOKEN = secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Shadow:
    name: str
    marker: bytes
    """Its path, by which its scans are found in a serialised plan."""
    provider: Provider

    @property
    def shown(self) -> str:
        """How a printed plan begins each of its scans."""
        return f"TableScan: {self.name}"


def shadow_of(schema: pa.Schema, context: SessionContext) -> Shadow:
    number, scan = template(schema)
    serial = next(_NUMBERS)
    name, path = f"$system:{_TOKEN}:{serial}:", f"file:///{_TOKEN}/system/{serial}".encode()
    kept = b"".join(scan[f.start : f.end] for f in fields(scan, 0, len(scan)) if f.number != TABLE_NAME)
    called = with_bytes(TABLE_NAME, with_bytes(1, with_bytes(1, name.encode())))
    plan = LogicalPlan.from_bytes(context, with_bytes(number, kept + called + with_bytes(PATHS, path)))
    return Shadow(name, path, context.create_dataframe_from_logical_plan(plan).into_view())
