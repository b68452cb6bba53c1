"""Definitions: namespaces, tables, views and what alters them."""

from __future__ import annotations

from typing import Any


def _term(column: str, **more: Any) -> dict[str, Any]:
    return {"": "PartitionTerm", "column": column.split("."), "transform": "identity", **more}


def _column(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"": "ColumnDef", "name": name, "type": kind, "nullable": True, **more}


def _required(name: str, kind: str, **more: Any) -> dict[str, Any]:
    found = _column(name, kind, **more)
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
        {"name": "local.tutorial.events", "columns": [_column("id", "BIGINT"), _column("ts", "TIMESTAMP")]},
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
                _required("a", "INT"),
                _column("b", "INT", comment="it's"),
                _required('"C d"', "INT", default="1 + 2"),
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT DEFAULT NULL COMMENT 'x', b INT DEFAULT (1, 2), c TEXT DEFAULT 'a,b')",
        "CreateTable",
        {
            "columns": [
                _column("a", "INT", default="NULL", comment="x"),
                _column("b", "INT", default="(1, 2)"),
                _column("c", "TEXT", default="'a,b'"),
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
        "CreateTable",
        {"primary_key": ["a"], "columns": [_required("a", "INT"), _column("b", "INT")]},
    ),
    ("CREATE TABLE t (a INT, b INT, CONSTRAINT pk PRIMARY KEY (a, b))", "CreateTable", {"primary_key": ["a", "b"]}),
    (
        'CREATE TABLE t (primary INT, date DATE, "check" INT, comment TEXT)',
        "CreateTable",
        {
            "columns": [
                _column("primary", "INT"),
                _column("date", "DATE"),
                _column('"check"', "INT"),
                _column("comment", "TEXT"),
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT) PARTITIONED BY (a, days(ts), bucket(16, id), bucket(id, 8) AS b8, truncate(s.name, 4))",
        "CreateTable",
        {
            "partitioning": [
                _term("a"),
                _term("ts") | {"transform": "day"},
                _term("id", argument=16) | {"transform": "bucket"},
                _term("id", argument=8, name="b8") | {"transform": "bucket"},
                _term("s.name", argument=4) | {"transform": "truncate"},
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT) PARTITION BY (year(a))",
        "CreateTable",
        {"partitioning": [_term("a") | {"transform": "year"}]},
    ),
    (
        "CREATE TABLE t (a INT) SORTED BY (a DESC NULLS LAST, bucket(4, b))",
        "CreateTable",
        {
            "sorting": [
                {"": "SortTerm", "term": _term("a"), "descending": True},
                {"": "SortTerm", "term": _term("b", argument=4) | {"transform": "bucket"}},
            ]
        },
    ),
    (
        "CREATE TABLE t (a INT) ORDER BY (a NULLS FIRST)",
        "CreateTable",
        {"sorting": [{"": "SortTerm", "term": _term("a"), "nulls_first": True}]},
    ),
    (
        "CREATE TABLE t (a INT) WITH (partitioning = ARRAY['day(ts)', 'x'], sorted_by = ARRAY['a DESC'], format = 'PARQUET', location = 's3://x')",
        "CreateTable",
        {
            "partitioning": [_term("ts") | {"transform": "day"}, _term("x")],
            "sorting": [{"": "SortTerm", "term": _term("a"), "descending": True}],
            "properties": [["format", "PARQUET"]],
            "location": "s3://x",
        },
    ),
    (
        "CREATE TABLE t (a INT) USING iceberg COMMENT 'c' LOCATION 'l' TBLPROPERTIES ('a.b' = 'x', write.format.default = orc, \"n\" = 1, t = true)",
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
    (
        "CREATE TABLE IF NOT EXISTS t PARTITIONED BY (a) WITH (x = 1) AS WITH q AS (SELECT 1 AS a) SELECT * FROM q",
        "CreateTableAs",
        {"if_not_exists": True, "partitioning": [_term("a")], "properties": [["x", "1"]], "tables": []},
    ),
    ("CREATE TABLE t AS VALUES (1)", "CreateTableAs", {"body": "VALUES (1)"}),
    ("CREATE TABLE t AS TABLE u", "CreateTableAs", {"body": "TABLE u", "tables": ["u"]}),
    # views
    ("CREATE VIEW v AS SELECT * FROM t", "CreateView", {"name": "v", "body": "SELECT * FROM t", "tables": ["t"]}),
    (
        "CREATE OR REPLACE TEMP VIEW IF NOT EXISTS a.v (x COMMENT 'c', y) COMMENT 'd' TBLPROPERTIES ('k' = 'v') AS SELECT 1, 2",
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
    ("DROP TABLE t", "DropTable", {"name": "t", "if_exists": False, "purge": False}),
    ("DROP TABLE IF EXISTS a.b.t PURGE;", "DropTable", {"name": "a.b.t", "if_exists": True, "purge": True}),
    # ALTER TABLE
    ("ALTER TABLE a.t RENAME TO u", "RenameTable", {"name": "a.t", "target": "u", "if_exists": False}),
    ("ALTER TABLE IF EXISTS t RENAME TO a.u", "RenameTable", {"target": "a.u", "if_exists": True}),
    ("ALTER TABLE t RENAME COLUMN a TO b", "AlterTable", {"actions": [{"": "RenameColumn", "path": ["a"], "to": "b"}]}),
    ("ALTER TABLE t RENAME a.b TO c", "AlterTable", {"actions": [{"": "RenameColumn", "path": ["a", "b"], "to": "c"}]}),
    (
        "ALTER TABLE t ADD COLUMN a INT",
        "AlterTable",
        {"actions": [{"": "AddColumn", "path": ["a"], "column": _column("a", "INT")}]},
    ),
    (
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS s.a INT NOT NULL DEFAULT 1 COMMENT 'x' AFTER b",
        "AlterTable",
        {
            "actions": [
                {
                    "": "AddColumn",
                    "path": ["s", "a"],
                    "column": _required("a", "INT", default="1", comment="x"),
                    "if_not_exists": True,
                    "after": "b",
                }
            ]
        },
    ),
    (
        "ALTER TABLE t ADD COLUMNS (a INT FIRST, b TEXT)",
        "AlterTable",
        {
            "actions": [
                {"": "AddColumn", "path": ["a"], "column": _column("a", "INT"), "first": True},
                {"": "AddColumn", "path": ["b"], "column": _column("b", "TEXT")},
            ]
        },
    ),
    (
        "ALTER TABLE t ADD a INT, DROP COLUMN b, DROP COLUMN IF EXISTS c CASCADE",
        "AlterTable",
        {
            "actions": [
                {"": "AddColumn", "path": ["a"], "column": _column("a", "INT")},
                {"": "DropColumn", "path": ["b"]},
                {"": "DropColumn", "path": ["c"], "if_exists": True},
            ]
        },
    ),
    (
        "ALTER TABLE t DROP COLUMNS (a, b)",
        "AlterTable",
        {"actions": [{"": "DropColumn", "path": ["a"]}, {"": "DropColumn", "path": ["b"]}]},
    ),
    (
        "ALTER TABLE t ALTER COLUMN a SET DATA TYPE BIGINT",
        "AlterTable",
        {"actions": [{"": "SetColumnType", "path": ["a"], "type": "BIGINT"}]},
    ),
    (
        "ALTER TABLE t ALTER a TYPE DECIMAL(10, 2) COMMENT 'x' AFTER b",
        "AlterTable",
        {
            "actions": [
                {"": "SetColumnType", "path": ["a"], "type": "DECIMAL(10, 2)"},
                {"": "CommentColumn", "path": ["a"], "comment": "x"},
                {"": "MoveColumn", "path": ["a"], "after": "b"},
            ]
        },
    ),
    (
        "ALTER TABLE t ALTER COLUMN a SET NOT NULL, ALTER COLUMN b DROP NOT NULL",
        "AlterTable",
        {"actions": [{"": "SetNotNull", "path": ["a"]}, {"": "DropNotNull", "path": ["b"]}]},
    ),
    (
        "ALTER TABLE t ALTER COLUMN a SET DEFAULT f(1, 2), ALTER COLUMN a DROP DEFAULT",
        "AlterTable",
        {"actions": [{"": "SetDefault", "path": ["a"], "value": "f(1, 2)"}, {"": "DropDefault", "path": ["a"]}]},
    ),
    (
        "ALTER TABLE t ALTER COLUMN a FIRST",
        "AlterTable",
        {"actions": [{"": "MoveColumn", "path": ["a"], "first": True}]},
    ),
    ("ALTER TABLE t ALTER COLUMN a COMMENT NULL", "AlterTable", {"actions": [{"": "CommentColumn", "path": ["a"]}]}),
    (
        "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
        "AlterTable",
        {"actions": [{"": "SetProperties", "properties": [["a", "b"]]}]},
    ),
    (
        "ALTER TABLE t SET PROPERTIES a = 1, \"b.c\" = 'x'",
        "AlterTable",
        {"actions": [{"": "SetProperties", "properties": [["a", "1"], ["b.c", "x"]]}]},
    ),
    (
        "ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a', 'b')",
        "AlterTable",
        {"actions": [{"": "UnsetProperties", "keys": ["a", "b"], "if_exists": True}]},
    ),
    (
        "ALTER TABLE t ADD PARTITION FIELD bucket(16, id)",
        "AlterTable",
        {"actions": [{"": "AddPartitionField", "term": _term("id", argument=16) | {"transform": "bucket"}}]},
    ),
    (
        "ALTER TABLE t REPLACE PARTITION FIELD ts WITH day(ts) AS d",
        "AlterTable",
        {
            "actions": [
                {"": "DropPartitionField", "term": _term("ts")},
                {"": "AddPartitionField", "term": _term("ts", name="d") | {"transform": "day"}},
            ]
        },
    ),
    ("COMMENT ON TABLE a.t IS 'hello'", "CommentOn", {"what": "TABLE", "name": "a.t", "comment": "hello"}),
    ("COMMENT ON COLUMN a.t.c IS NULL", "CommentOn", {"what": "COLUMN", "name": "a.t.c", "comment": None}),
    ("COMMENT ON NAMESPACE a IS 'x'", "CommentOn", {"what": "SCHEMA"}),
    ("COMMENT ON VIEW v IS 'x'", "CommentOn", {"what": "VIEW"}),
    ("ANALYZE t", "Analyze", {"table": "t", "columns": []}),
    ("ANALYZE TABLE a.t COMPUTE STATISTICS FOR COLUMNS x, y", "Analyze", {"table": "a.t", "columns": ["x", "y"]}),
    ("ANALYZE t (x, y)", "Analyze", {"columns": ["x", "y"]}),
    ("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS", "Analyze", {"columns": []}),
]
