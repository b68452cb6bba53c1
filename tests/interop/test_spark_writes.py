"""Tables that Spark wrote, with its deletes, evolution and branches: we read them, change them, and Spark reads on."""

from __future__ import annotations

import pytest

from tests.engine.support import do, in_order, rows
from tests.interop.peers import DuckDB, Lake, PyIceberg, Spark

pytestmark = pytest.mark.slow

_ON_READ = ", ".join(f"'write.{mode}.mode' = 'merge-on-read'" for mode in ("delete", "update", "merge"))


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.long), 2, 3])
def table(request: pytest.FixtureRequest, lake: Lake, spark: Spark) -> str:
    """Two partitionings, three schemas, rows deleted in each of Spark's ways, and a branch."""
    version, name = request.param, f"theirs_v{request.param}"
    full = f"{lake.catalog}.s.{name}"
    modes = f", {_ON_READ}" if version > 1 else ""
    for statement in (
        f"CREATE TABLE {full} (id INT, part STRING, x FLOAT, gone INT, at TIMESTAMP, local TIMESTAMP_NTZ, "
        f"n DECIMAL(9, 2), st STRUCT<a: INT, b: ARRAY<STRING>>, m MAP<STRING, INT>, b BINARY) USING iceberg "
        f"PARTITIONED BY (part) TBLPROPERTIES ('format-version' = '{version}'{modes})",
        f"INSERT INTO {full} SELECT /*+ COALESCE(1) */ CAST(id AS INT), concat('p', id % 3), id / 2, id, "
        f"timestamp_seconds(id * 86400), TIMESTAMP_NTZ '1969-12-31 23:59:59.5', id * 1.25, "
        f"named_struct('a', CAST(id AS INT), 'b', array('x', NULL)), map('k', CAST(id AS INT)), "
        f"CAST('b' AS BINARY) FROM range(60)",
        f"DELETE FROM {full} WHERE id % 10 = 3",
        f"UPDATE {full} SET x = -1 WHERE id < 5",
        f"ALTER TABLE {full} DROP COLUMN gone",
        f"ALTER TABLE {full} ALTER COLUMN id TYPE BIGINT",
        f"ALTER TABLE {full} ADD COLUMN gone STRING",
        f"ALTER TABLE {full} ADD PARTITION FIELD bucket(2, id)",
        f"INSERT INTO {full} (id, part, gone) VALUES (100, 'p1', 'new'), (101, NULL, NULL)",
        f"DELETE FROM {full} WHERE id = 10",
        f"ALTER TABLE {full} CREATE BRANCH theirs",
        f"INSERT INTO {full}.branch_theirs (id, part) VALUES (200, 'branch')",
    ):
        spark.sql(statement)
    return name


def test_we_read_it(lake: Lake, spark: Spark, table: str) -> None:
    assert len(lake.rows(table)) == 55
    assert lake.has_deletes(table) == (not table.endswith("v1"))
    assert spark.rows(lake, table) == lake.rows(table)
    assert spark.rows(lake, table, ref="theirs") == lake.rows(table, ref="theirs")
    for where in ("id = 42", "part = 'p1' AND x > 10.0", "part IS NULL", "gone = 'new'", "at < '1970-01-05T00:00:00Z'"):
        assert spark.rows(lake, table, where) == lake.rows(table, where) != []


def test_we_change_it_and_all_read_it(lake: Lake, spark: Spark, pyiceberg: PyIceberg, duck: DuckDB, table: str) -> None:
    """Each change is compared with the same change of a copy of the rows, by us; and with what the others read then."""
    do(lake.session, f"CREATE TABLE copy_of_{table} AS SELECT * FROM {table}")
    for change in (
        "DELETE FROM {} WHERE id % 7 = 1 OR id = 100",
        "UPDATE {} SET x = x * 2, gone = 'changed' WHERE part = 'p2' AND id > 20",
        "MERGE INTO {} AS t USING (SELECT 5 AS id UNION ALL SELECT 500) AS n ON t.id = n.id "
        "WHEN MATCHED THEN UPDATE SET gone = 'merged' WHEN NOT MATCHED THEN INSERT (id, part) VALUES (n.id, 'p9')",
        "INSERT INTO {} (id, part, n) VALUES (600, 'p0', 1.25)",
    ):
        for name in (table, f"copy_of_{table}"):
            do(lake.session, change.format(name))
        assert lake.rows(table) == lake.rows(f"copy_of_{table}")
    expected = lake.rows(table)
    assert spark.rows(lake, table) == expected
    assert duck.rows(lake, table) == expected
    assert pyiceberg.rows(lake, table) == expected


def test_we_take_turns(lake: Lake, spark: Spark, table: str) -> None:
    """Each deletes rows of a file from which the other has deleted some already."""
    full, turns = f"{lake.catalog}.s.turns_{table}", f"turns_{table}"
    version = table[-1]
    modes = f", {_ON_READ}" if version != "1" else ""
    do(lake.session, f"CREATE TABLE {turns} WITH (format_version = {version}{modes}) AS SELECT id FROM {table}")
    before = {id for (id,) in rows(lake.session, f"SELECT id FROM {turns}")}
    do(lake.session, f"DELETE FROM {turns} WHERE id = 20")
    spark.sql(f"DELETE FROM {full} WHERE id = 30")
    do(lake.session, f"DELETE FROM {turns} WHERE id = 40")
    spark.sql(f"UPDATE {full} SET id = -1 WHERE id = 5")
    left = before - {20, 30, 40, 5} | {-1}
    assert spark.rows(lake, turns) == lake.rows(turns) == in_order([(id,) for id in left])
