"""The answer of a change of rows: its tag and their number; or the number as a row, for RETURNING count(*)."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.result import Result
from pinakes.parser.statements import Delete, Insert, Merge, Update


def counted(statement: Insert | Update | Delete | Merge, tag: str, count: int) -> Result:
    if not statement.returning:
        return Result.done(tag, count)
    result = Result.rows(pa.schema([("count", pa.int64())]), [(count,)])
    result.count = count
    return result
