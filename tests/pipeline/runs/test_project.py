"""What a project's files say, and all that can be wrong with them. No Spark is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.api import pipelines
from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.core.errors import PinakesError
from pinakes.parser.spark.references import not_row_by_row, references, respelled
from pinakes.pipelines.project.model import Dataset
from tests.pipeline.runs.support import graph, problem, project

MV = "CREATE MATERIALIZED VIEW"


def test_sql_and_python_make_one_graph(tmp_path: Path) -> None:
    sql = f"""
      {MV} clean (CONSTRAINT positive EXPECT (v > 0) ON VIOLATION DROP ROW, CONSTRAINT known EXPECT (k IN (1, 2)))
      PARTITIONED BY (k, bucket(4, v)) COMMENT 'tidy' TBLPROPERTIES ('write.format.default' = 'parquet') AS
      WITH raw AS (SELECT * FROM raw) SELECT * FROM raw;
      CREATE OR REFRESH STREAMING TABLE log AS SELECT * FROM STREAM(raw) AS r WHERE r.v > 1;
      CREATE FLOW more AS INSERT INTO log BY NAME SELECT * FROM STREAM other.raw2;"""
    python = """
@dp.materialized_view(comment="by day")
@expect("some", "n > 0", action="fail")
def daily():
    rate = spark.conf.get("shop.rate")
    few = spark.createDataFrame([(1, "x")], ["k", "word"])
    return spark.table("good").join(few, "k").groupBy("k").agg(F.count("*").alias("n")).where(F.col("n") > int(rate))

@dp.temporary_view
def good():
    return spark.sql("SELECT * FROM clean WHERE v < {most}", most=10)
"""
    found = graph(project(tmp_path, 'configuration: {shop.rate: "3"}\n', sql, python))
    names = [found.spec.shown(key) for key in found.order]
    assert names == ["clean", "log", "good", "daily"]
    clean, log, daily = (found.steps["lake", "shop", name] for name in ("clean", "log", "daily"))
    assert isinstance(clean, Dataset)
    assert [(e.name, e.predicate, e.action) for e in clean.expectations] == [
        ("positive", "v > 0", "drop"),
        ("known", "k IN (1, 2)", "warn"),
    ]
    assert (clean.partitions, clean.comment) == (("k", "bucket(4, v)"), "tidy")
    assert isinstance(log, Dataset)
    assert [flow.name for flow in log.flows] == ["log", "more"]
    assert isinstance(daily, Dataset)
    assert [e.action for e in daily.expectations] == ["fail"]
    assert {key for key, _ in found.sources()} == {("lake", "shop", "raw"), ("lake", "other", "raw2")}


def test_a_definition_has_the_same_fingerprint_in_every_process(tmp_path: Path) -> None:
    python = "@dp.materialized_view\ndef a():\n    return spark.table('x').join(spark.table('y'), 'k')\n"
    path = project(tmp_path, python=python)
    first, second = (graph(path).steps["lake", "shop", "a"] for _ in range(2))
    assert isinstance(first, Dataset)
    assert isinstance(second, Dataset)
    assert first.flows[0].fingerprint == second.flows[0].fingerprint


@pytest.mark.parametrize(
    ("spec", "sql", "python", "said"),
    [
        ("", f"{MV} a AS SELECT * FROM b; {MV} b AS SELECT * FROM c; {MV} c AS SELECT * FROM a", "", "a ← b ← c ← a"),
        ("", f"{MV} a AS SELECT 1;\n{MV} a AS SELECT 2", "", "tables.sql:2: 'a' is there twice: transformations"),
        ("loads:\n- {table: a, path: x.csv}\n", f"{MV} a AS SELECT 1", "", "'a' is there twice: spec.yml:5"),
        ("a: b: c\n", "", "", "spec.yml:4: invalid YAML"),
        ("librarys: []\n", "", "", "spec.yml:4: unknown key 'librarys'. Did you mean libraries?"),
        ("name: twice\n", "", "", "spec.yml:4: the key 'name' is there twice"),
        ("loads:\n- {table: a, path: x.txt}\n", "", "", "Add `format`, one of csv, json, parquet, arrow"),
        ("loads:\n- {table: a, path: x.csv, bad_records: keeep}\n", "", "", "not 'keeep'. Did you mean keep?"),
        ("expectations:\n  b: [{name: x, expect: v > 0}]\n", f"{MV} bb AS SELECT 1 AS v", "", "Did you mean bb?"),
        ("expectations:\n  a: [{name: x, expect: v >}]\n", f"{MV} a AS SELECT 1 AS v", "", "'x' is not a valid"),
        ("", f"{MV} a AS SELECT *\nFORM t WHERE", "", "tables.sql:"),
        ("", "CREATE TABLE a AS SELECT 1", "", "CREATE STREAMING TABLE"),
        ("", f"{MV} a USING parquet AS SELECT 1", "", "Iceberg tables"),
        ("", "CREATE STREAMING TABLE a", "", "nothing fills 'a'"),
        ("", "CREATE STREAMING TABLE a AS SELECT * FROM t", "", "reads nothing as a stream"),
        ("", "CREATE STREAMING TABLE a AS SELECT k, count(*) FROM STREAM t GROUP BY k", "", "needs all rows of"),
        ("", f"{MV} a AS SELECT * FROM STREAM t", "", "is made of all rows: read without STREAM"),
        ("", f"{MV} a AS SELECT 1 AS v; CREATE STREAMING TABLE b AS SELECT * FROM STREAM a", "", "none of its rows"),
        ("", "CREATE FLOW f AS INSERT INTO ab BY NAME SELECT * FROM STREAM t", "", "'ab', which is not a table"),
        ("", "", "@dp.materialized_view\ndef a():\n    return spark.table('t').limit(spark.table('t').count())\n",
         "tables.py:9: 'a' wants to see rows or columns"),
        ("", "", "@dp.materialized_view\ndef a():\n    spark.table('t')\n", "is `return` missing?"),
        ("", "", "@dp.table\ndef a():\n    return spark.readStream.table('t').groupBy('k').count()\n", "aggregate()"),
        ("", "", "1 / 0\n", "tables.py:7: ZeroDivisionError"),
        ("", "", "@dp.materialized_view\n@expect('x', 'count(*) > 0')\ndef a(): ...\n", "can't have an aggregate"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_with_its_place(tmp_path: Path, spec: str, sql: str, python: str, said: str) -> None:
    told = problem(project(tmp_path, spec, sql, python))
    assert told.startswith("PIPELINE_INVALID: ")
    assert said in told


def test_all_that_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    told = problem(project(tmp_path, "nonsense: 1\n", f"{MV} a AS SELECT * FROM b; {MV} b AS SELECT * FROM a"))
    assert "unknown key 'nonsense'" in told
    assert "a ← b ← a" in told


def checked(tmp_path: Path, spec: str, sql: str) -> str:
    """What `validate` says, with catalogs at hand."""
    config = Config(engine=replace(EngineConfig(), data=":memory:"))
    with open_engine(config) as engine:
        session = engine.session()
        session.run("CREATE SCHEMA lake.shop").read_all()
        session.run("CREATE TABLE lake.shop.orders (v INT)").read_all()
        session.run("CREATE VIEW lake.shop.looked AS SELECT 1 AS v").read_all()
        try:
            return str(pipelines.validate(engine, project(tmp_path, spec, sql)))
        except PinakesError as error:
            return error.render()


def test_sources_and_catalogs_must_be_there(tmp_path: Path) -> None:
    assert checked(tmp_path, "", f"{MV} a AS SELECT * FROM orders") == "1"
    missing = checked(tmp_path, "", f"{MV} a AS SELECT * FROM ordres")
    assert "'a' reads 'ordres': no table of the pipeline has this name" in missing
    assert "Did you mean" in missing
    assert "it is a view, written for Pinakes" in checked(tmp_path, "", f"{MV} a AS SELECT * FROM looked")
    assert "'nowhere' is not attached" in checked(tmp_path, "", f"{MV} a AS SELECT * FROM nowhere.s.t")
    foreign = checked(tmp_path, "", f"{MV} orders AS SELECT 1 AS v")
    assert "the table lake.shop.orders is there and was not made by a pipeline" in foreign
    gone = checked(tmp_path, "loads:\n- {table: raw, path: data/*.csv}\n", f"{MV} a AS SELECT * FROM raw")
    assert "spec.yml:5: load of 'raw': path:" in gone


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT * FROM a, (SELECT * FROM b.c) x WHERE k IN (SELECT k FROM `d e`.f.g)", ["a", "b.c", "d e.f.g"]),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b JOIN c", ["c"]),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", ["a"]),
        ("SELECT * FROM csv.`/data/x.csv` JOIN range(3) JOIN t", ["t"]),
        ("FROM t |> WHERE v > 1 |> SELECT v", ["t"]),
    ],
)
def test_tables_of_a_query(query: str, found: list[str]) -> None:
    assert [".".join(r.parts) for r in references(query)] == found
    assert respelled(query, lambda r: query[r.start : r.end]) == query


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT v FROM STREAM t",
        "SELECT * FROM u LEFT JOIN STREAM t ON true",
        "SELECT * FROM STREAM t FULL JOIN u ON true",
        "SELECT * FROM u WHERE k NOT IN (SELECT k FROM STREAM t)",
        "SELECT * FROM STREAM t JOIN STREAM u ON true",
        "SELECT * FROM STREAM t UNION SELECT * FROM u",
        "SELECT * FROM STREAM t LIMIT 3",
        "SELECT sum(v) OVER () FROM STREAM t",
    ],
)
def test_queries_that_need_more_than_new_rows(query: str) -> None:
    assert not_row_by_row(query) is not None


def test_queries_of_new_rows() -> None:
    assert not_row_by_row("SELECT t.v + 1 FROM STREAM t LEFT JOIN u ON t.k = u.k WHERE t.v > 3") is None
