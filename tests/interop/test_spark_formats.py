"""What only Spark writes: views whose columns have other names, files of Avro, columns of variants."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from pinakes.core.errors import InvalidArgument
from tests.engine.support import do, in_order, rows
from tests.interop.peers import Lake, Spark

pytestmark = pytest.mark.slow


# --- views -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(lake: Lake, spark: Spark) -> str:
    """The table of the views. They name Spark's catalog, so it is attached under that name, too."""
    do(lake.session, f"ATTACH '{lake.directory}' AS {lake.catalog} (TYPE sqlite, CATALOG_NAME '{lake.catalog}')")
    spark.sql(f"USE {lake.catalog}.s")
    full = f"{lake.catalog}.s.base"
    spark.sql(f"CREATE TABLE {full} (id INT, name STRING) USING iceberg")
    spark.sql(f"INSERT INTO {full} VALUES (1, 'a'), (2, 'b')")
    return full


@pytest.mark.parametrize(
    ("view", "columns", "expected"),
    [
        ("(k, v) AS SELECT id, name FROM {}", ["k", "v"], [(1, "a"), (2, "b")]),
        ("(k, v) AS SELECT name, id FROM {}", ["k", "v"], [("a", 1), ("b", 2)]),
        ("(id, name) AS SELECT name, id FROM {}", ["id", "name"], [("a", 1), ("b", 2)]),
        ("(n, most) AS SELECT count(*), max(name) FROM {}", ["n", "most"], [(2, "b")]),
        ("AS SELECT id + 1, upper(name) AS Up FROM {}", ["(id + 1)", "Up"], [(2, "A"), (3, "B")]),
        ("(a, b) AS SELECT * FROM {}", ["a", "b"], [(1, "a"), (2, "b")]),
    ],
)
def test_views_are_read_under_their_own_names(
    lake: Lake, spark: Spark, base: str, view: str, columns: list[str], expected: list[tuple[object, ...]]
) -> None:
    name = f"seen_{uuid4().hex[:8]}"
    spark.sql(f"CREATE VIEW {lake.catalog}.s.{name} {view.format(base)}")
    found = lake.session.run(f"SELECT * FROM {name}").read_all()
    assert found.schema.names == columns
    assert in_order(rows(lake.session, f"SELECT * FROM {name}")) == expected


def test_a_star_that_gives_more_now(lake: Lake, spark: Spark, base: str) -> None:
    assert base
    full = f"{lake.catalog}.s.wider"
    spark.sql(f"CREATE TABLE {full} (id INT, name STRING) USING iceberg")
    spark.sql(f"INSERT INTO {full} VALUES (1, 'a')")
    spark.sql(f"CREATE VIEW {lake.catalog}.s.of_wider (k, v) AS SELECT * FROM {full}")
    spark.sql(f"ALTER TABLE {full} ADD COLUMN first INT FIRST")
    do(lake.session, "CALL system.runtime.flush_cache('table_metadata')")
    assert rows(lake.session, "SELECT k, v FROM of_wider") == [(1, "a")]
    spark.sql(f"ALTER TABLE {full} DROP COLUMN name")
    do(lake.session, "CALL system.runtime.flush_cache('table_metadata')")
    with pytest.raises(InvalidArgument, match="no longer fits"):
        rows(lake.session, "SELECT k, v FROM of_wider")


# --- Avro --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_files_of_avro(lake: Lake, spark: Spark, version: int) -> None:
    """With deletes, evolution, nested types, and names that Avro could not have."""
    name = f"avro_v{version}"
    full = f"{lake.catalog}.s.{name}"
    on_read = ", ".join(f"'write.{change}.mode' = 'merge-on-read'" for change in ("delete", "update", "merge"))
    formats = "'write.format.default' = 'avro', 'write.delete.format.default' = 'avro'"
    for statement in (
        f"CREATE TABLE {full} (id INT, part STRING, x FLOAT, gone INT, at TIMESTAMP, local TIMESTAMP_NTZ, d DATE, "
        f"n DECIMAL(9, 2), st STRUCT<a: INT, `b c`: ARRAY<STRING>>, m MAP<STRING, INT>, im MAP<INT, STRING>, "
        f"b BINARY, `o.d d` BOOLEAN) USING iceberg PARTITIONED BY (part) "
        f"TBLPROPERTIES ('format-version' = '{version}', {formats}, {on_read})",
        f"INSERT INTO {full} SELECT /*+ COALESCE(1) */ CAST(id AS INT), concat('p', id % 3), id / 2, id, "
        f"timestamp_seconds(id * 86400), TIMESTAMP_NTZ '1969-12-31 23:59:59.5', date_add(DATE '1969-12-30', "
        f"CAST(id AS INT)), id * 1.25, named_struct('a', CAST(id AS INT), 'b c', array('x', NULL)), "
        f"map('k', CAST(id AS INT)), map(CAST(id AS INT), 'v'), CAST('b' AS BINARY), id % 2 = 0 FROM range(60)",
        f"DELETE FROM {full} WHERE id % 10 = 3",
        f"UPDATE {full} SET x = -1 WHERE id < 5",
        f"ALTER TABLE {full} DROP COLUMN gone",
        f"ALTER TABLE {full} ALTER COLUMN id TYPE BIGINT",
        f"ALTER TABLE {full} RENAME COLUMN part TO p",
        f"ALTER TABLE {full} ADD COLUMN gone STRING",
        f"INSERT INTO {full} (id, p, gone) VALUES (100, 'p1', 'new'), (101, NULL, NULL)",
        f"DELETE FROM {full} WHERE id = 10",
    ):
        spark.sql(statement)
    assert lake.rows(name) == spark.rows(lake, name)
    assert len(lake.rows(name)) == 55
    assert rows(lake.session, f"SELECT count(*) FROM {name} WHERE \"o.d d\" AND p = 'p1'") == [(9,)]
    assert {f for (f,) in rows(lake.session, f'SELECT lower(file_format) FROM "{name}$files"')} >= {"avro"}
    do(lake.session, f"ALTER TABLE {name} SET TBLPROPERTIES ('write.format.default' = 'parquet')")
    do(lake.session, f"UPDATE {name} SET x = 7 WHERE id = 20")
    do(lake.session, f"DELETE FROM {name} WHERE id = 21")
    assert lake.rows(name) == spark.rows(lake, name)
    assert len(lake.rows(name)) == 54


# --- variants ----------------------------------------------------------------------------------------------------


def test_variants_are_read_as_json(lake: Lake, spark: Spark) -> None:
    full = f"{lake.catalog}.s.variants"
    spark.sql(f"CREATE TABLE {full} (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    texts = (
        "null",
        "true",
        "-7",
        "123456789012",
        "1.25",
        "1e300",
        '"text with \\"quotes\\""',
        '{"b": [1, 2, {"c": null}], "a": "x"}',
        "[]",
        "{}",
        json.dumps({f"key{i}": "long " * 20 for i in range(300)}),
    )
    for number, text in enumerate(texts):
        spark.sql(f"INSERT INTO {full} VALUES ({number}, parse_json('{text.replace(chr(92), chr(92) * 2)}'))")
    spark.sql(f"INSERT INTO {full} VALUES (100, NULL)")
    assert rows(lake.session, "SELECT count(*), max(id) FROM variants") == [(12, 100)]
    found = dict(rows(lake.session, "SELECT id, v FROM variants WHERE id < 100"))
    assert {number: json.loads(text) for number, text in found.items()} == {
        number: json.loads(text) for number, text in enumerate(texts)
    }
    assert rows(lake.session, "SELECT v FROM variants WHERE id = 100") == [(None,)]
    spark.sql(
        f"INSERT INTO {full} SELECT 200, to_variant_object(named_struct('d', DATE '2024-02-29', 'n', 1.10BD, "
        f"'t', TIMESTAMP_NTZ '2024-02-29 12:00:00.5', 'b', CAST('ab' AS BINARY), 'f', CAST(0.5 AS FLOAT)))"
    )
    do(lake.session, "CALL system.runtime.flush_cache('table_metadata')")
    ((text,),) = rows(lake.session, "SELECT v FROM variants WHERE id = 200")
    assert json.loads(text) == {"d": "2024-02-29", "n": 1.10, "t": "2024-02-29 12:00:00.5", "b": "YWI=", "f": 0.5}
    assert "1.10" in text
