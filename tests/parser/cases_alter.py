"""ALTER TABLE, COMMENT ON, ANALYZE."""

from __future__ import annotations

from typing import Any

from tests.parser.cases_definitions import column, required, term

BY_A = {"": "SetSortOrder", "terms": [{"": "SortTerm", "term": term("a")}]}

ALTERATIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("ALTER TABLE a.t RENAME TO u", "RenameTable", {"name": "a.t", "target": "u", "if_exists": False}),
    ("ALTER TABLE IF EXISTS t RENAME TO a.u", "RenameTable", {"target": "a.u", "if_exists": True}),
    ("ALTER TABLE t RENAME COLUMN a TO b", "AlterTable", {"actions": [{"": "RenameColumn", "path": ["a"], "to": "b"}]}),
    ("ALTER TABLE t RENAME a.b TO c", "AlterTable", {"actions": [{"": "RenameColumn", "path": ["a", "b"], "to": "c"}]}),
    (
        "ALTER TABLE t ADD COLUMN a INT",
        "AlterTable",
        {"actions": [{"": "AddColumn", "path": ["a"], "column": column("a", "INT")}]},
    ),
    (
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS s.a INT NOT NULL DEFAULT 1 COMMENT 'x' AFTER b",
        "AlterTable",
        {
            "actions": [
                {
                    "": "AddColumn",
                    "path": ["s", "a"],
                    "column": required("a", "INT", default="1", comment="x"),
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
                {"": "AddColumn", "path": ["a"], "column": column("a", "INT"), "first": True},
                {"": "AddColumn", "path": ["b"], "column": column("b", "TEXT")},
            ]
        },
    ),
    (
        "ALTER TABLE t ADD a INT, DROP COLUMN b, DROP COLUMN IF EXISTS c CASCADE",
        "AlterTable",
        {
            "actions": [
                {"": "AddColumn", "path": ["a"], "column": column("a", "INT")},
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
        "ALTER TABLE t WRITE ORDERED BY a DESC NULLS FIRST, bucket(16, id)",
        "AlterTable",
        {
            "actions": [
                {
                    "": "SetSortOrder",
                    "terms": [
                        {"": "SortTerm", "term": term("a"), "descending": True, "nulls_first": True},
                        {"": "SortTerm", "term": term("id", argument=16) | {"transform": "bucket"}},
                    ],
                }
            ]
        },
    ),
    ("ALTER TABLE t WRITE LOCALLY ORDERED BY (a)", "AlterTable", {"actions": [BY_A]}),
    ("ALTER TABLE t WRITE UNORDERED", "AlterTable", {"actions": [{"": "SetSortOrder"}]}),
    (
        "ALTER TABLE t ADD PARTITION FIELD bucket(16, id)",
        "AlterTable",
        {"actions": [{"": "AddPartitionField", "term": term("id", argument=16) | {"transform": "bucket"}}]},
    ),
    (
        "ALTER TABLE t REPLACE PARTITION FIELD ts WITH day(ts) AS d",
        "AlterTable",
        {
            "actions": [
                {"": "DropPartitionField", "term": term("ts")},
                {"": "AddPartitionField", "term": term("ts", name="d") | {"transform": "day"}},
            ]
        },
    ),
    ("COMMENT ON TABLE a.t IS 'hello'", "CommentOn", {"what": "TABLE", "name": "a.t", "comment": "hello"}),
    ("COMMENT ON COLUMN a.t.c IS NULL", "CommentOn", {"what": "COLUMN", "name": "a.t.c", "comment": None}),
    ("COMMENT ON NAMESPACE a IS 'x'", "CommentOn", {"what": "SCHEMA"}),
    ("COMMENT ON VIEW v IS 'x'", "CommentOn", {"what": "VIEW"}),
    ("ALTER TABLE a.t EXECUTE optimize", "TableExecute", {"name": "a.t", "procedure": "optimize", "where": None}),
    (
        "ALTER TABLE t EXECUTE optimize(file_size_threshold => '1MB') WHERE p = 1",
        "TableExecute",
        {"procedure": "optimize", "where": "p = 1"},
    ),
    ("ALTER TABLE IF EXISTS t EXECUTE expire_snapshots()", "TableExecute", {"if_exists": True, "arguments": []}),
    ("ANALYZE t", "Analyze", {"table": "t", "columns": []}),
    ("ANALYZE TABLE a.t COMPUTE STATISTICS FOR COLUMNS x, y", "Analyze", {"table": "a.t", "columns": ["x", "y"]}),
    ("ANALYZE t (x, y)", "Analyze", {"columns": ["x", "y"]}),
    ("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS", "Analyze", {"columns": []}),
    ("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN", "Analyze", {"columns": [], "scans": False}),
    ("ANALYZE t WITH (columns = ARRAY['x', 'y'])", "Analyze", {"columns": ["x", "y"], "scans": True}),
]
