"""`pinakes/parser/rewrites.py` quotes `user` beside a dot: DataFusion takes it for a function. It also writes `l[1].f`
as `l[1]['f']`, which DataFusion does not read."""

from __future__ import annotations

import pyarrow as pa
import pytest
from datafusion import SessionContext


@pytest.mark.parametrize("sql", ["SELECT user.name FROM t", "SELECT t.user.name FROM t", "SELECT tags[1].k FROM t"])
def test_datafusion_still_does_not_read_it(sql: str) -> None:
    context = SessionContext()
    rows = pa.RecordBatch.from_pylist([{"user": {"name": "ann"}, "tags": [{"k": 1}]}])
    context.register_record_batches("t", [[rows]])
    with pytest.raises(Exception, match="Dot access not supported"):
        context.sql(sql)
