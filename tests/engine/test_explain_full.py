"""EXPLAIN FULL: the facts that it tells, as a document and as rows. Times are there, and never compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.core.errors import DataCorrupt, QueryCanceled, QueryTimeout
from pinakes.core.names import Name
from pinakes.engine.datafusion.memory_sources import Rows
from pinakes.engine.engine import Engine
from pinakes.engine.execution.tracker import State
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_positions
from tests.engine.support import an_engine, do, in_thread, info_of, rows, wait_until
from tests.providers.kinds import new_name
from tests.servers.base import Facts as ServerFacts

Facts = dict[str, Any]
ENDLESS = "SELECT sum(value % 7) FROM range(100000000000)"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    """t: ten partitions by a, a file each; in that of a, s goes from 'v<a>0' to 'v<a>9'."""
    session = engine.session()
    do(session, "CREATE TABLE t (a INT, s VARCHAR, d DOUBLE) PARTITIONED BY (a)")
    do(session, "INSERT INTO t SELECT x / 10, 'v' || lpad(x, 2, '0'), x FROM unnest(range(0, 100)) AS u(x)")
    return session


def explain(session: Session, sql: str, *, analyze: bool = False, **more: Any) -> Facts:
    words = "EXPLAIN ANALYZE FULL FORMAT JSON" if analyze else "EXPLAIN FULL FORMAT JSON"
    found: Facts = json.loads(session.run(f"{words} {sql}", **more).read_all().column("plan")[0].as_py())
    return found


def only_scan(session: Session, sql: str, **more: Any) -> Facts:
    (scan,) = explain(session, sql, **more)["scans"]
    return dict(scan)


def operators(plan: Facts) -> list[Facts]:
    return [plan, *(o for one in plan["inputs"] for o in operators(one))]


def tasks(session: Session) -> Any:
    handle = session.resolver.table(Name.of("t"))[1].handle
    return handle, list(handle.scan().plan_files())


# --- the document ------------------------------------------------------------------------------------------------


def test_the_keys_of_the_document_are_stable(session: Session) -> None:
    found = explain(session, "SELECT * FROM t WHERE a = 1", analyze=True)
    assert list(found) == [
        "version", "analyzed", "engine", "milliseconds", "rows", "result_cache", "caches", "scans", "shared", "plan",
    ]  # fmt: skip
    assert found["version"] == 1
    assert list(found["engine"]) == ["name", "why"]
    assert list(found["milliseconds"]) == ["parse", "resolve", "plan", "prune", "execute"]
    (scan,) = found["scans"]
    assert list(scan) == [
        "table", "kind", "scans", "snapshot_id", "files", "pruning", "is_read", "rows", "bytes", "row_groups",
        "filters", "delete_files", "native", "plain", "caches",
    ]  # fmt: skip
    assert list(scan["files"]) == ["total", "after_partitions", "after_bounds"]
    assert list(scan["bytes"]) == ["total", "planned", "read"]
    assert list(scan["row_groups"]) == ["total", "matched"]
    assert list(scan["native"]) == ["files", "schema_groups"]
    assert list(scan["plain"]) == ["files", "reasons"]
    assert list(scan["caches"]["manifests"]) == ["hits", "misses"]
    for operator in operators(found["plan"]):
        assert list(operator) == ["operator", "detail", "table", "estimated", "actual", "inputs"]
        assert list(operator["estimated"]) == ["rows", "exact", "cost"]
        assert list(operator["actual"]) == ["rows", "cost", "milliseconds", "spilled_bytes"]


def test_what_is_only_known_of_a_run_is_null_without_one(session: Session) -> None:
    found = explain(session, "SELECT * FROM t")
    assert (found["analyzed"], found["rows"], found["milliseconds"]["execute"]) == (False, None, None)
    (scan,) = found["scans"]
    assert (scan["row_groups"], scan["bytes"]["read"]) == (None, None)
    assert all(o["actual"] is None for o in operators(found["plan"]))


def test_arguments_are_no_part_of_what_is_explained(session: Session) -> None:
    do(session, "PREPARE p AS EXPLAIN FULL FORMAT JSON SELECT * FROM t WHERE a = $1")
    found = json.loads(rows(session, "EXECUTE p (1 + 2)")[0][0])
    assert found["milliseconds"]["execute"] is None
    assert found["scans"][0]["filters"] == ["a = 3"]


def test_every_phase_is_measured(session: Session) -> None:
    found = explain(session, "SELECT * FROM t WHERE a = 1", analyze=True)
    assert all(spent > 0 for spent in found["milliseconds"].values())
    assert found["engine"]["name"] == "local"


# --- files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "partitions", "bounds"),
    [
        ("true", 10, 10),
        ("a = 5", 1, 1),
        ("a >= 5", 5, 5),
        ("s = 'v42'", 10, 1),
        ("a >= 5 AND s < 'v62'", 5, 2),
        ("a = 3 OR s = 'v42'", 10, 2),
        ("a > 100", 0, 0),
        ("a = 5 AND s = 'v42'", 1, 0),
        ("a + 0 = 5", 10, 10),
    ],
)
def test_files_after_partitions_and_after_bounds(session: Session, where: str, partitions: int, bounds: int) -> None:
    scan = only_scan(session, f"SELECT * FROM t WHERE {where}")
    assert scan["files"] == {"total": 10, "after_partitions": partitions, "after_bounds": bounds}
    assert scan["rows"] == 10 * bounds
    assert scan["native"]["files"] == bounds
    sizes = [task.file.file_size_in_bytes for task in tasks(session)[1]]
    assert scan["bytes"]["total"] == sum(sizes)
    assert (scan["bytes"]["planned"] < sum(sizes)) == (bounds < 10)


def test_a_table_of_few_files_is_not_pruned_and_its_filter_is_reported(session: Session) -> None:
    do(session, "CREATE TABLE few AS SELECT 1 AS a, 'x' AS s")
    scan = only_scan(session, "SELECT * FROM few WHERE a = 7")
    assert scan["files"] == {"total": 1, "after_partitions": 1, "after_bounds": 1}
    assert scan["pruning"] == "none: of 4 files or fewer DataFusion itself leaves out what can't match"
    assert scan["filters"] == ["a = 7"]


def test_row_groups_and_bytes_are_those_that_were_read(session: Session) -> None:
    scan = only_scan(session, "SELECT s FROM t WHERE a >= 5", analyze=True)
    assert scan["row_groups"] == {"total": 5, "matched": 5}
    assert 0 < scan["bytes"]["read"] < scan["bytes"]["planned"]


def test_row_groups_that_are_skipped(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "many groups.parquet"
    pq.write_table(pa.table({"a": range(1000)}), path, row_group_size=100)
    scan = only_scan(session, f"SELECT * FROM '{path}' WHERE a > 850", analyze=True)
    assert (scan["kind"], scan["table"]) == ("files", str(path))
    assert scan["row_groups"] == {"total": 10, "matched": 2}
    assert scan["bytes"]["planned"] == path.stat().st_size


def test_deleted_rows_take_the_plain_reader(session: Session) -> None:
    handle, files = tasks(session)
    delete_positions(handle, files[0], [0, 1])
    session.engine.caches.clear()
    scan = only_scan(session, "SELECT * FROM t", analyze=True)
    assert scan["delete_files"] == 1
    assert scan["native"] == {"files": 9, "schema_groups": 1}
    assert scan["plain"] == {"files": 1, "reasons": {"deleted rows": 1}}
    assert explain(session, "SELECT * FROM t", analyze=True)["rows"] == 98


def test_files_that_name_their_columns_otherwise_are_schema_groups(session: Session) -> None:
    do(session, "ALTER TABLE t RENAME COLUMN s TO name")
    do(session, "INSERT INTO t VALUES (11, 'v', 1.0)")
    scan = only_scan(session, "SELECT name FROM t WHERE a >= 9")
    assert scan["native"] == {"files": 2, "schema_groups": 2}
    assert scan["filters"] == ["a >= 9"]
    assert scan["caches"]["footers"] == {"hits": 0, "misses": 2}
    assert only_scan(session, "SELECT name FROM t WHERE a >= 9")["caches"]["footers"] == {"hits": 2, "misses": 0}


# --- what is read ------------------------------------------------------------------------------------------------


def test_no_table_at_all(session: Session) -> None:
    found = explain(session, "SELECT 1 AS a", analyze=True)
    assert (found["scans"], found["rows"], found["caches"]) == ([], 1, {})


def test_views_subqueries_and_self_joins(session: Session) -> None:
    do(session, "CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a")
    table, view = explain(session, "SELECT * FROM v WHERE a = 3")["scans"]
    assert (view["kind"], view["table"]) == ("view", "lake.default.v")
    assert (table["table"], table["files"]["after_bounds"], table["filters"]) == ("lake.default.t", 1, ["a = 3"])
    twice = only_scan(session, "SELECT * FROM t AS x JOIN t AS y ON x.s = y.s WHERE x.a = 1 AND y.a = 2")
    assert (twice["scans"], twice["files"]["after_bounds"]) == (2, 2)
    assert sorted(twice["filters"]) == ["a = 1", "a = 2"]


def test_the_snapshot_of_time_travel_and_nothing_else(session: Session) -> None:
    first = only_scan(session, "SELECT * FROM t")["snapshot_id"]
    do(session, "INSERT INTO t VALUES (11, 'v', 1.0)")
    now = only_scan(session, "SELECT * FROM t")
    then = only_scan(session, f"SELECT * FROM t FOR VERSION AS OF {first}")
    assert (then["snapshot_id"], then["files"]["total"]) == (first, 10)
    assert (now["snapshot_id"] != first, now["files"]["total"]) == (True, 11)


def test_rows_in_memory_and_temporary_tables(session: Session) -> None:
    session.temporary.put("mine", Rows(pa.table({"a": [1, 2]})))
    do(session, "CREATE TEMP TABLE tt AS SELECT 1 AS a")
    scans = explain(session, "SELECT * FROM mine JOIN tt USING (a) JOIN t USING (a)", analyze=True)["scans"]
    assert [(s["table"], s["kind"]) for s in scans] == [
        ("mine", "memory"), ("temp.main.tt", "iceberg"), ("lake.default.t", "iceberg"),
    ]  # fmt: skip
    assert (scans[2]["scans"], scans[2]["filters"]) == (1, [""])
    assert scans[2]["pruning"] == "by partitions and bounds"
    # A plan with rows in memory can't be serialised, so the scan of a subquery within an expression is not found.
    scan = explain(session, "SELECT * FROM mine WHERE a > (SELECT min(a) FROM t WHERE a > 1)", analyze=True)["scans"][1]
    assert (scan["scans"], scan["filters"]) == (None, None)
    assert scan["pruning"].startswith("none: the conditions are not known")


def test_a_table_that_is_not_read(session: Session) -> None:
    scan = only_scan(session, "SELECT * FROM t WHERE false")
    assert (scan["is_read"], scan["scans"]) == (False, 0)
    assert (scan["files"]["after_bounds"], scan["bytes"]["planned"]) == (0, 0)


@pytest.mark.parametrize("sql", ["SELECT count(*) FROM t", "SELECT max(a), count(s) FROM t"])
def test_what_the_metadata_answers(session: Session, sql: str) -> None:
    found = explain(session, sql, analyze=True)
    (scan,) = found["scans"]
    assert (scan["is_read"], scan["bytes"]["planned"], scan["row_groups"]) == (False, 0, None)
    assert (scan["files"]["total"], found["rows"]) == (10, 1)


def test_parameters(session: Session) -> None:
    assert only_scan(session, "SELECT * FROM t WHERE a = $1", parameters=[5])["filters"] == ["a = 5"]


def test_the_query_of_an_insert(session: Session) -> None:
    scan = only_scan(session, "INSERT INTO t (a, s) SELECT A, s || $1 FROM t AS x WHERE x.a = 4", parameters=["!"])
    assert scan["files"]["after_bounds"] == 1
    assert rows(session, "SELECT count(*) FROM t") == [(100,)]


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("(s = 'it''s' OR d > 1.5) AND a = 1", "a = 1 AND (s = 'it''s' OR d > 1.5)"),
        ("s LIKE 'v1%' OR s ILIKE 'X_'", "s LIKE 'v1%' OR s ILIKE 'X_'"),
        ("s NOT LIKE 'v1%'", "s NOT LIKE 'v1%'"),
        ("a NOT IN (1, 2, 3, 4, 5)", "a NOT IN (1, 2, 3, 4, 5)"),
        ("s IS NULL OR NOT (a > 3)", "s IS NULL OR a <= 3"),
        ("d % 3 = 1", "d % 3.0 = 1.0"),
        ("d - (d - 1) > d * (d + 2)", "nanvl(d - (d - 1.0), NaN) > nanvl(d * (d + 2.0), NaN)"),
        ("CAST(a AS DECIMAL(12, 2)) <> 1.25", "CAST(a AS DECIMAL(12, 2)) <> 1.25"),
        ("-d > 1", "nanvl(-d, NaN) > 1.0"),
        ("upper(s) = 'X' OR (d > 1) IS TRUE", "upper(s) = 'X' OR (d > 1.0) IS TRUE"),
        ("TRY_CAST(s AS BIGINT) = 31", "TRY_CAST(s AS BIGINT) = 31"),
    ],
)
def test_the_filter_as_sql(session: Session, where: str, told: str) -> None:
    assert only_scan(session, f"SELECT * FROM t WHERE {where}")["filters"] == [told]


def test_a_long_list_is_cut(session: Session) -> None:
    listed = ", ".join(map(str, range(500)))
    (found,) = only_scan(session, f"SELECT * FROM t WHERE a IN ({listed})")["filters"]
    assert found.endswith("19, … 480 more)")


# --- caches and operators ----------------------------------------------------------------------------------------


def test_what_the_caches_had(session: Session) -> None:
    session.engine.caches.clear()
    cold = only_scan(session, "SELECT * FROM t")["caches"]
    warm = only_scan(session, "SELECT * FROM t")["caches"]
    assert cold["table_metadata"] == {"hits": 0, "misses": 1}
    assert cold["manifests"]["misses"] == 3  # the snapshot, the list of its manifests, the one manifest
    assert warm == {"manifests": {"hits": 1, "misses": 0}, "table_metadata": {"hits": 1, "misses": 0}}


def test_caches_are_reported_by_table(session: Session) -> None:
    do(session, "CREATE TABLE u AS SELECT 1 AS a")
    rows(session, "SELECT * FROM t")
    found = explain(session, "SELECT * FROM t JOIN u USING (a)")
    assert [s["caches"]["manifests"]["hits"] for s in found["scans"]] == [1, 0]
    assert found["caches"]["manifests"]["hits"] == 1


def test_estimates_stand_beside_what_came(session: Session) -> None:
    do(session, "CREATE TABLE u AS SELECT 1 AS a, 'one' AS n")
    found = explain(session, "SELECT t.a, u.a FROM t JOIN u ON t.a = u.a ORDER BY t.s", analyze=True)
    seen = operators(found["plan"])
    assert found["rows"] == seen[0]["actual"]["rows"] == 10
    scans = {o["table"]: o for o in seen if o["operator"] == "DataSourceExec"}
    assert set(scans) == {"lake.default.t", "lake.default.u"}
    assert scans["lake.default.t"]["estimated"]["rows"] == 100
    assert scans["lake.default.t"]["estimated"]["cost"] == 100
    (join,) = [o for o in seen if o["operator"].endswith("JoinExec")]
    assert join["estimated"]["cost"] == sum(i["estimated"]["rows"] for i in join["inputs"])
    assert join["actual"]["cost"] == sum(i["actual"]["rows"] for i in join["inputs"])


def test_a_subquery_that_is_computed_once(session: Session) -> None:
    sql = "WITH c AS (SELECT a, sum(d) AS z FROM t WHERE a < 3 GROUP BY a) SELECT * FROM c AS x JOIN c AS y USING (a)"
    planned, run = explain(session, sql), explain(session, sql, analyze=True)
    for found, count in ((planned, None), (run, 3)):
        (shared,) = found["shared"]
        assert (shared["name"], shared["uses"], shared["rows"]) == ("c", 2, count)
        (scan,) = found["scans"]
        assert (scan["scans"], scan["files"]["after_bounds"]) == (1, 3)
    assert run["rows"] == 3


def test_a_text_that_looks_like_a_plan_is_not_taken_for_one(session: Session) -> None:
    found = explain(session, "SELECT * FROM t WHERE s = 'x\n  FilterExec: statistics=[Rows=Exact(7)'")
    assert all(o["estimated"]["rows"] != 7 for o in operators(found["plan"]))


# --- rows --------------------------------------------------------------------------------------------------------


def test_rows_fit_into_a_terminal(session: Session) -> None:
    do(session, "CREATE TABLE u AS SELECT 1 AS a, 'one' AS n")
    joined = "SELECT t.a, count(*) AS n FROM t JOIN u ON t.a = u.a JOIN u AS w ON w.a = u.a"
    where = "WHERE s LIKE 'v0%' AND t.d < 50 AND (u.n = 'one' OR u.n = 'two') GROUP BY t.a ORDER BY n LIMIT 3"
    found = rows(session, f"EXPLAIN ANALYZE FULL {joined} {where}")
    widths = [max(len(line) for row in found for line in row[at].split("\n")) for at in range(3)]
    assert sum(widths) + 3 * 3 + 1 <= 80
    items = [row[0] for row in found]
    assert {"engine", "time to prune", "time to execute", "table", "  files", "    after bounds", "plan"} <= set(items)


def test_rows_and_document_tell_the_same(session: Session) -> None:
    shown = {item.strip(): planned for item, planned, _ in rows(session, "EXPLAIN FULL SELECT * FROM t WHERE s < 'v3'")}
    scan = only_scan(session, "SELECT * FROM t WHERE s < 'v3'")
    assert shown["snapshot"] == str(scan["snapshot_id"])
    assert shown["after bounds"] == str(scan["files"]["after_bounds"]) == "3"
    assert shown["filter"] == scan["filters"][0] == "s < 'v3'"
    assert shown["native"] == "3 files, 1 schema group"


# --- as a statement ----------------------------------------------------------------------------------------------


def test_it_ends_as_any_query(session: Session, engine: Engine) -> None:
    found = rows(session, "EXPLAIN ANALYZE FULL SELECT * FROM t")
    info = info_of(engine, "EXPLAIN ANALYZE FULL")
    assert (info.state, info.kind, info.rows) == (State.FINISHED, "ExplainFull", len(found))


def test_it_can_be_canceled(session: Session, engine: Engine) -> None:
    outcome = in_thread(lambda: explain(session, ENDLESS, analyze=True))

    def running() -> bool:
        return any(q.kind == "ExplainFull" and q.state == State.RUNNING for q in engine.tracker.snapshot())

    wait_until(running, "it runs")
    session.cancel()
    with pytest.raises(QueryCanceled):
        outcome()


def test_it_times_out(session: Session) -> None:
    do(session, "SET statement_timeout = 0.2")
    with pytest.raises(QueryTimeout):
        explain(session, ENDLESS, analyze=True)


def test_a_file_that_changed_meanwhile_is_an_error(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    result = session.run(f"EXPLAIN ANALYZE FULL SELECT * FROM '{path}'")
    path.unlink()
    with pytest.raises(DataCorrupt, match=r"x\.parquet' was removed"):
        result.read_all()


@pytest.mark.slow
def test_a_table_in_an_object_store(session: Session, s3_server: ServerFacts, tmp_path: Path) -> None:
    keys = f"KEY_ID '{s3_server['key_id']}', SECRET '{s3_server['secret']}', REGION '{s3_server['region']}'"
    do(session, f"CREATE SECRET k (TYPE s3, {keys}, ENDPOINT '{s3_server['uri']}', URL_STYLE 'path')")
    place = f"s3://{s3_server['bucket']}/{new_name()}"
    do(session, f"ATTACH '{tmp_path / 's.db'}' AS s (TYPE sqlite, WAREHOUSE '{place}', STORAGE_SECRET k)")
    do(session, "CREATE SCHEMA s.n")
    do(session, "CREATE TABLE s.n.t PARTITIONED BY (a) AS SELECT * FROM t")
    found = explain(session, "SELECT s FROM s.n.t WHERE a >= 7 AND s <> 'x'", analyze=True)
    (scan,) = found["scans"]
    assert scan["files"] == {"total": 10, "after_partitions": 3, "after_bounds": 3}
    assert (scan["native"]["files"], scan["row_groups"]) == (3, {"total": 3, "matched": 3})
    assert [o["table"] for o in operators(found["plan"]) if not o["inputs"]] == ["s.n.t"]
    assert s3_server["secret"] not in json.dumps(found)
    assert s3_server["key_id"] not in json.dumps(found)
