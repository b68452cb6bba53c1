"""`parser/workarounds/constant_sums.py`"""

from __future__ import annotations

import pyarrow as pa
from datafusion import SessionContext

from tests.workarounds.bare import answer


def test_the_sum_of_no_rows_is_still_zero() -> None:
    found = answer("SELECT sum(one) FROM (SELECT 1.5e0 AS one FROM none) AS q")
    assert found == [(0.0,)], "this is right now: the workaround can go"


def test_a_filtered_aggregate_is_still_that_below_it() -> None:
    context = SessionContext()
    context.register_record_batches("t", [[pa.record_batch({"id": [1, 2, 3]})]])
    sql = "SELECT sum(c) FILTER (WHERE c > 9) FROM (SELECT count(*) AS c FROM t) AS q"
    found = context.sql(sql).to_pydict()
    assert list(found.values()) == [[3]], "this is right now: the workaround can go"
