"""A subquery whose rows are computed once, however often the statement reads them.

While the statement is planned, a scan of nothing stands for it (its shadow), as for a table that is to be narrowed. So
the optimised plan tells what is taken from it (`demand.py`). Before the plan is run, the rows are computed
(`compute.py`), and the statement is planned once more over them.
"""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from datafusion import DataFrame, SessionContext
from datafusion import Table as Provider

from pinakes.engine.iceberg.scan.native import scan_of
from pinakes.engine.planning.determinism import is_steady
from pinakes.engine.planning.optimize.plain_types import is_plain

SHARED = "$shared"
"""The catalog of such subqueries in planned text. Nobody can mount it."""

_NUMBERS = itertools.count(1)
_TOKEN = secrets.token_hex(16)


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    name: str
    uses: int
    frame: DataFrame
    """The plan of the subquery, over shadows."""
    schema: pa.Schema
    marker: bytes

    @staticmethod
    def of(name: str, uses: int, frame: DataFrame, schema: pa.Schema) -> Shared | None:
        """None if its rows can't be kept, or if it might be something else each time it is computed."""
        names = schema.names
        if not names or len(set(names)) < len(names) or not all(is_plain(f.type) for f in schema):
            return None
        if not is_steady(frame.logical_plan().display_indent()):
            return None
        return Shared(name, uses, frame, schema, f"file:///{_TOKEN}/{next(_NUMBERS)}".encode())

    def shadow(self, context: SessionContext) -> Provider:
        """Were it run, this module would be read as a Parquet file, and fail."""
        return scan_of(context, (Path(__file__).as_uri(), self.marker.decode()), self.schema).into_view()
