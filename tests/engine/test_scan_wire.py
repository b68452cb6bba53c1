"""What is known of DataFusion's plans in their serialised form. Another major version fails here first."""

from __future__ import annotations

import datafusion
import pyarrow as pa
from datafusion import Expr, SessionContext

from pinakes.engine.datafusion.parquet_scan import scan_of
from pinakes.engine.datafusion.plan_proto import FILTERS, nodes_of

SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string_view())])
HERE = b"file:///a/marked/path"


def conditions(sql: str) -> list[list[str]]:
    """Those that DataFusion pushed down to each scan of a table t."""
    context = SessionContext()
    context.register_table("t", scan_of(context, [HERE.decode(), "file:///another"], SCHEMA).into_view())
    plan = context.sql(sql).optimized_logical_plan().to_bytes(context)
    pushed = [[plan[f.value : f.end] for f in scan if f.number == FILTERS] for scan in nodes_of(plan, HERE)]
    return sorted(sorted(str(Expr.from_bytes(e, context)) for e in filters) for filters in pushed)


def test_the_format_of_plans_is_known_for_this_major_version_only() -> None:
    assert datafusion.__version__.split(".")[0] == "55", (
        "engine/datafusion/plan_proto.py reads and edits DataFusion's plans by field numbers: check PATHS and FILTERS "
        "against the new version's datafusion.proto, run tests/engine/test_scan_fuzz.py at length, and change this"
    )


def test_every_scan_is_found_with_its_own_conditions() -> None:
    assert conditions("SELECT a FROM t") == [[]]
    assert conditions("SELECT a FROM t WHERE a = 5 AND s < 'x'") == [
        ["Expr(?table?.a = Int64(5))", 'Expr(?table?.s < Utf8View("x"))']
    ]
    assert conditions("SELECT 1 FROM t AS x JOIN t AS y ON x.a = y.a WHERE x.a > 3 AND y.s = 'q'") == [
        ["Expr(?table?.a > Int64(3))"],
        ["Expr(?table?.a > Int64(3))", 'Expr(?table?.s = Utf8View("q"))'],
    ]


def test_scans_within_subqueries_are_found() -> None:
    assert conditions("SELECT 1 FROM t WHERE a > (SELECT min(a) FROM t WHERE s = 'in')") == [
        ['Expr(?table?.s = Utf8View("in"))'],
        [],
    ] or conditions("SELECT 1 FROM t WHERE a > (SELECT min(a) FROM t WHERE s = 'in')") == [
        [],
        ['Expr(?table?.s = Utf8View("in"))'],
    ]
    found = conditions("SELECT 1 FROM t WHERE a IN (SELECT a FROM t WHERE s = 'in') UNION ALL SELECT 2 FROM t")
    assert len(found) == 3


def test_a_text_that_holds_the_path_is_no_scan() -> None:
    sql = f"SELECT '{HERE.decode()}' AS p FROM t WHERE s = '{HERE.decode()}' AND a = 1"
    assert len(conditions(sql)) == 1
