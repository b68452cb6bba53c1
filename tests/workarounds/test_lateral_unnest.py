"""DataFusion still can't run UNNEST over a column of another source of FROM: else `lateral_unnest.py` can go."""

from __future__ import annotations

import pytest
from datafusion import SessionContext


def test_unnest_of_another_sources_column_can_not_be_run() -> None:
    context = SessionContext()
    frame = context.sql("SELECT u.x FROM (SELECT [1, 2] AS a) AS t CROSS JOIN UNNEST(t.a) AS u(x)")
    with pytest.raises(Exception, match="does not support logical expression OuterReferenceColumn"):
        frame.collect()
