"""`parser/workarounds/guarded_operands.py`"""

from __future__ import annotations

import pytest
from datafusion import SessionContext


def test_both_sides_of_and_are_still_computed() -> None:
    context = SessionContext()
    context.sql("CREATE TABLE t AS VALUES (1, 0), (6, 2), (5, 0), (9, 3)").collect()
    with pytest.raises(Exception, match="Divide by zero"):
        context.sql("SELECT * FROM t WHERE column2 <> 0 AND column1 / column2 > 2").collect()


def test_case_that_is_true_or_false_is_still_written_as_and() -> None:
    context = SessionContext()
    context.sql("CREATE TABLE t AS VALUES (1, 0), (6, 2), (5, 0), (9, 3)").collect()
    with pytest.raises(Exception, match="Divide by zero"):
        context.sql("SELECT CASE WHEN column2 <> 0 THEN column1 / column2 > 2 ELSE false END FROM t").collect()
