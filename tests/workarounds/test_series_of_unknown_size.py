"""`pinakes/parser/rewrites.py` tells DataFusion how many rows range(…) gives: it does not know, and a join without a
condition then reads the larger side whole, and gives a batch for each of its rows."""

from __future__ import annotations

import pyarrow as pa
from datafusion import SessionContext

from pinakes.parser.classify import classify
from tests.engine.support import an_engine, rows


def _largest_first(sql: str) -> bool:
    context = SessionContext()
    context.register_record_batches("t", [[pa.record_batch({"a": list(range(1000))})]])
    plan = context.sql(sql).execution_plan().display_indent()
    first = next(line for line in plan.splitlines()[1:] if "Exec" in line and "CrossJoin" not in line)
    return "GlobalLimit" not in first and "LazyMemory" not in first


def test_datafusion_still_does_not_know() -> None:
    assert _largest_first("SELECT t.a, g.value FROM t, range(3) AS g")


def test_with_a_limit_it_does() -> None:
    assert not _largest_first("SELECT t.a, g.value FROM t, (SELECT * FROM range(3) LIMIT 3) AS g")


def test_only_tables_next_to_others_are_reported() -> None:
    told = {
        "SELECT * FROM t, range(3) g": [3],
        "SELECT * FROM t CROSS JOIN generate_series(1, 3)": [3],
        "SELECT * FROM range(2, 9, 3) AS g JOIN t ON true WHERE a > 1": [3],
        "SELECT * FROM generate_series(3, -1, -2) g, range(-2, 0), range(5, 1), range(4, 0, -2)": [3, 2, 0, 2],
        "SELECT (SELECT max(value) FROM range(7), t) FROM t": [7],
        "SELECT * FROM range(3)": [],
        "SELECT a, range(3), b FROM t, u": [],
        "SELECT * FROM t, range(a) g": [],
        "SELECT * FROM t, u WHERE a IS DISTINCT FROM range(3) ORDER BY b, range(3)": [],
        "SELECT * FROM t, range(1, 5, 0)": [],
    }
    found = {sql: [r.text for r in classify(sql).repairs if "LIMIT" in r.text] for sql in told}  # type: ignore[attr-defined]
    assert found == {sql: [f" LIMIT {n})" for n in counts] for sql, counts in told.items()}


def test_the_rows_are_the_same() -> None:
    with an_engine() as engine:
        session = engine.session()
        for call in (
            "range(3)",
            "range(2, 9, 3)",
            "generate_series(1, 3)",
            "generate_series(3, -1, -2)",
            "range(5, 1)",
        ):
            alone = rows(session, f"SELECT * FROM {call} ORDER BY 1")
            beside = rows(session, f"SELECT g.value FROM (VALUES (1)) AS t, {call} AS g ORDER BY 1")
            assert beside == alone
