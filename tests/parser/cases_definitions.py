"""Definitions: namespaces, tables, views and what alters them."""

from __future__ import annotations

from typing import Any


def term(column: str, **more: Any) -> dict[str, Any]:
    return {"": "PartitionTerm", "column": column.split("."), "transform": "identity", **more}


def column(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"": "ColumnDef", "name": name, "type": kind, "nullable": True, **more}


def required(name: str, kind: str, **more: Any) -> dict[str, Any]:
    found = column(name, kind, **more)
    del found["nullable"]  # the table of cases leaves out what is false
    return found


DEFINITIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("CREATE SCHEMA a.b.c", "CreateNamespace", {"name": "a.b.c", "properties": [], "if_not_exists": False}),
    ("CREATE NAMESPACE IF NOT EXISTS a", "CreateNamespace", {"if_not_exists": True}),
    (
        "CREATE DATABASE d COMMENT 'c' LOCATION 's3://x' WITH DBPROPERTIES ('k' = 'v', n = 1)",
        "CreateNamespace",
        {"properties": [["comment", "c"], ["location", "s3://x"], ["k", "v"], ["n", "1"]]},
    ),
    ("CREATE SCHEMA s WITH (location = 's3://x')", "CreateNamespace", {"properties": [["location", "s3://x"]]}),
    ("DROP SCHEMA a.b", "DropNamespace", {"name": "a.b", "if_exists": False, "cascade": False}),
    ("DROP NAMESPACE IF EXISTS a CASCADE", "DropNamespace", {"if_exists": True, "cascade": True}),
    ("DROP DATABASE d RESTRICT", "DropNamespace", {"cascade": False}),
    (
        "ALTER SCHEMA s SET PROPERTIES ('a' = 'b', \"c.d\" = true)",
        "AlterNamespace",
        {"updates": [["a", "b"], ["c.d", "true"]]},
    ),
    ("ALTER NAMESPACE s SET LOCATION 'x'", "AlterNamespace", {"updates": [["location", "x"]]}),
    ("ALTER DATABASE s UNSET DBPROPERTIES ('a', b.c)", "AlterNamespace", {"removals": ["a", "b.c"]}),
    ("ALTER SCHEMA a.s RENAME TO a.t", "AlterNamespace", {"name": "a.s", "rename_to": "a.t"}),
    # tables
    (
        "CREATE TABLE local.tutorial.events (id BIGINT, ts TIMESTAMP)",
        "CreateTable",
        {"name": "local.tutorial.events", "columns": [column("id", "BIGINT"), column("ts", "TIMESTAMP")]},
    ),
    (
        "CREATE OR REPLACE TEMP TABLE IF NOT EXISTS t (a INT)",
        "CreateTable",
        {"or_replace": True, "temporary": True, "if_not_exists": True},
    ),
    (
        "CREATE TABLE t (a INT NOT NULL, b INT NULL COMMENT 'it''s', \"C d\" INT DEFAULT 1 + 2 NOT NULL)",
        "CreateTable",
        {
            "columns": [
                required("a", "INT"),
                column("b", "INT", comment="it's"),
                required('"C d"', "INT", default="1 + 2"),
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT DEFAULT NULL COMMENT 'x', b INT DEFAULT (1, 2), c TEXT DEFAULT 'a,b')",
        "CreateTable",
        {
            "columns": [
                column("a", "INT", default="NULL", comment="x"),
                column("b", "INT", default="(1, 2)"),
                column("c", "TEXT", default="'a,b'"),
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
        "CreateTable",
        {"primary_key": ["a"], "columns": [required("a", "INT"), column("b", "INT")]},
    ),
    ("CREATE TABLE t (a INT, b INT, CONSTRAINT pk PRIMARY KEY (a, b))", "CreateTable", {"primary_key": ["a", "b"]}),
    (
        'CREATE TABLE t (primary INT, date DATE, "check" INT, comment TEXT)',
        "CreateTable",
        {
            "columns": [
                column("primary", "INT"),
                column("date", "DATE"),
                column('"check"', "INT"),
                column("comment", "TEXT"),
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT) PARTITIONED BY (a, days(ts), bucket(16, id), bucket(id, 8) AS b8, truncate(s.name, 4))",
        "CreateTable",
        {
            "partitioning": [
                term("a"),
                term("ts") | {"transform": "day"},
                term("id", argument=16) | {"transform": "bucket"},
                term("id", argument=8, name="b8") | {"transform": "bucket"},
                term("s.name", argument=4) | {"transform": "truncate"},
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT) PARTITION BY (year(a))",
        "CreateTable",
        {"partitioning": [term("a") | {"transform": "year"}]},
    ),
    (
        "CREATE TABLE t (a INT) SORTED BY (a DESC NULLS LAST, bucket(4, b))",
        "CreateTable",
        {
            "sorting": [
                {"": "SortTerm", "term": term("a"), "descending": True},
                {"": "SortTerm", "term": term("b", argument=4) | {"transform": "bucket"}},
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT) ORDER BY (a NULLS FIRST)",
        "CreateTable",
        {"sorting": [{"": "SortTerm", "term": term("a"), "nulls_first": True}]},
    ),
    (
        "CREATE TABLE t (a INT) WITH (partitioning = ARRAY['day(ts)', 'x'], sorted_by = ARRAY['a "
        "DESC'], format = 'PARQUET', location = 's3://x')",
        "CreateTable",
        {
            "partitioning": [term("ts") | {"transform": "day"}, term("x")],
            "sorting": [{"": "SortTerm", "term": term("a"), "descending": True}],
            "properties": [["format", "PARQUET"]],
            "location": "s3://x",
        },
    ),
    (
        "CREATE TABLE t (a INT) USING iceberg COMMENT 'c' LOCATION 'l' TBLPROPERTIES ('a.b' = 'x', "
        'write.format.default = orc, "n" = 1, t = true)',
        "CreateTable",
        {
            "comment": "c",
            "location": "l",
            "properties": [["a.b", "x"], ["write.format.default", "orc"], ["n", "1"], ["t", "true"]],
        },
    ),
    ("CREATE TABLE t LIKE a.b", "CreateTable", {"like": "a.b", "columns": []}),
    ("CREATE TABLE t (LIKE u)", "CreateTable", {"like": "u"}),
    ("CREATE TABLE cat.`s3://b/t` (a INT)", "CreateTable", {"name": 'path:cat."s3://b/t"'}),
    # CREATE TABLE AS
    (
        "CREATE TABLE t AS SELECT * FROM u",
        "CreateTableAs",
        {"name": "t", "body": "SELECT * FROM u", "tables": ["u"], "with_data": True, "columns": []},
    ),
    ("CREATE OR REPLACE TABLE a.t AS SELECT 1", "CreateTableAs", {"or_replace": True, "name": "a.t"}),
    (
        "CREATE TABLE t (a, b) AS (SELECT 1, 2) WITH NO DATA",
        "CreateTableAs",
        {"columns": ["a", "b"], "body": "(SELECT 1, 2)", "with_data": False},
    ),
    ("CREATE TABLE t AS SELECT 1 WITH DATA", "CreateTableAs", {"body": "SELECT 1", "with_data": True}),
    ("CREATE TABLE t (a INT NOT NULL) AS SELECT 1", "CreateTableAs", {"body": "SELECT 1", "columns": []}),
    (
        "CREATE TABLE IF NOT EXISTS t PARTITIONED BY (a) WITH (x = 1) AS WITH q AS (SELECT 1 AS a) SELECT * FROM q",
        "CreateTableAs",
        {"if_not_exists": True, "partitioning": [term("a")], "properties": [["x", "1"]], "tables": []},
    ),
    ("CREATE TABLE t AS VALUES (1)", "CreateTableAs", {"body": "VALUES (1)"}),
    ("CREATE TABLE t AS TABLE u", "CreateTableAs", {"body": "TABLE u", "tables": ["u"]}),
    # SQL functions
    (
        "CREATE OR REPLACE TEMP FUNCTION a.f(x INT, y DECIMAL(4, 1) DEFAULT 1) RETURNS BIGINT IMMUTABLE RETURN x + y",
        "CreateFunction",
        {"name": "a.f", "temporary": True, "or_replace": True},
    ),
    ("CREATE MACRO IF NOT EXISTS f(a) AS TABLE SELECT a", "CreateFunction", {"name": "f", "if_not_exists": True}),
    ("DROP FUNCTION IF EXISTS f(INT, TEXT)", "DropFunction", {"name": "f", "arguments": 2, "if_exists": True}),
    ("DROP TEMP MACRO f", "DropFunction", {"name": "f", "temporary": True, "arguments": None}),
    # views
    ("CREATE VIEW v AS SELECT * FROM t", "CreateView", {"name": "v", "body": "SELECT * FROM t", "tables": ["t"]}),
    (
        "CREATE OR REPLACE TEMP VIEW IF NOT EXISTS a.v (x COMMENT 'c', y) COMMENT 'd' TBLPROPERTIES "
        "('k' = 'v') AS SELECT 1, 2",
        "CreateView",
        {
            "or_replace": True,
            "temporary": True,
            "if_not_exists": True,
            "columns": [["x", "c"], ["y", None]],
            "comment": "d",
            "properties": [["k", "v"]],
        },
    ),
    ("ALTER VIEW v RENAME TO w", "AlterView", {"rename_to": "w"}),
    (
        "ALTER VIEW IF EXISTS a.v AS SELECT * FROM t",
        "AlterView",
        {"if_exists": True, "body": "SELECT * FROM t", "tables": ["t"]},
    ),
    ("ALTER VIEW v SET TBLPROPERTIES ('a' = 1)", "AlterView", {"updates": [["a", "1"]]}),
    ("ALTER VIEW v UNSET PROPERTIES ('a')", "AlterView", {"removals": ["a"]}),
    ("DROP VIEW IF EXISTS a.v", "DropView", {"name": "a.v", "if_exists": True}),
    ("DROP TABLE t", "DropTable", {"name": "t", "if_exists": False, "purge": False, "temporary": False}),
    ("DROP TEMP TABLE t", "DropTable", {"name": "t", "temporary": True}),
    ("DROP TEMPORARY VIEW IF EXISTS v", "DropView", {"name": "v", "if_exists": True, "temporary": True}),
    ("DROP TABLE IF EXISTS a.b.t PURGE;", "DropTable", {"name": "a.b.t", "if_exists": True, "purge": True}),
]
