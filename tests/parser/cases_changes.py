"""Changes of data: INSERT, UPDATE, DELETE, MERGE, TRUNCATE, COPY."""

from __future__ import annotations

from typing import Any


def _set(column: str, value: str) -> dict[str, Any]:
    return {"": "Assignment", "column": column.split("."), "value": value}


def _clause(when: str, action: str, **more: Any) -> dict[str, Any]:
    return {"": "MergeClause", "when": when, "action": action, **more}


CHANGES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "INSERT INTO local.tutorial.events VALUES (1, NOW())",
        "Insert",
        {
            "target": "local.tutorial.events",
            "body": "VALUES (1, NOW())",
            "tables": [],
            "columns": [],
            "overwrite": False,
            "by_name": False,
        },
    ),
    (
        'INSERT INTO t (a, "B") SELECT * FROM u',
        "Insert",
        {"target": "t", "columns": ["a", '"B"'], "body": "SELECT * FROM u", "tables": ["u"]},
    ),
    ("INSERT INTO t SELECT * FROM t", "Insert", {"target": "t", "tables": ["t"]}),
    ("INSERT INTO TABLE t (SELECT 1)", "Insert", {"body": "(SELECT 1)", "columns": []}),
    ("INSERT INTO t (table, values) VALUES (1, 2)", "Insert", {"columns": ["table", "values"]}),
    ("INSERT OVERWRITE TABLE t FROM u", "Insert", {"overwrite": True, "body": "FROM u", "tables": ["u"]}),
    ("INSERT INTO t BY NAME SELECT 1 AS a", "Insert", {"by_name": True}),
    (
        "INSERT OVERWRITE t PARTITION (day = DATE '2024-01-01', \"R\") (a) SELECT 1",
        "Insert",
        {
            "overwrite": True,
            "partition": [
                {"": "PartitionColumn", "column": "day", "value": "DATE '2024-01-01'"},
                {"": "PartitionColumn", "column": '"R"'},
            ],
            "columns": ["a"],
            "body": "SELECT 1",
        },
    ),
    ("INSERT INTO t VALUES (1) RETURNING count(*)", "Insert", {"body": "VALUES (1)", "returning": True}),
    ("DELETE FROM t WHERE a = 1 RETURNING count", "Delete", {"where": "a = 1", "returning": True}),
    ("INSERT INTO t DEFAULT VALUES", "Insert", {"body": None}),
    (
        "INSERT INTO t AS x (a) VALUES (?)",
        "Insert",
        {"target": "t x", "columns": ["a"], "placeholders": [{"": "Placeholder", "name": "1", "span": "?"}]},
    ),
    ("INSERT INTO t WITH q AS (SELECT * FROM u) SELECT * FROM q", "Insert", {"tables": ["u"]}),
    ("INSERT INTO t (a) -- why\nVALUES ('a;b')", "Insert", {"body": "VALUES ('a;b')"}),
    (
        "INSERT INTO t VALUES (current_user)",
        "Insert",
        {"values": [{"": "SessionValue", "name": "current_user", "span": "current_user"}]},
    ),
    ("UPDATE t SET a = 1", "Update", {"target": "t", "assignments": [_set("a", "1")], "source": None, "where": None}),
    (
        "UPDATE a.t AS x SET x.b = x.b + 1, c.d = f(1, 2) WHERE x.id = 3",
        "Update",
        {"target": "a.t x", "assignments": [_set("x.b", "x.b + 1"), _set("c.d", "f(1, 2)")], "where": "x.id = 3"},
    ),
    (
        "UPDATE t x SET a = s.a FROM s JOIN u ON s.k = u.k WHERE x.id = s.id",
        "Update",
        {"target": "t x", "source": "s JOIN u ON s.k = u.k", "tables": ["s", "u"]},
    ),
    (
        "UPDATE t SET a = (SELECT max(b) FROM t), c = d IS DISTINCT FROM e",
        "Update",
        {
            "assignments": [_set("a", "(SELECT max(b) FROM t)"), _set("c", "d IS DISTINCT FROM e")],
            "tables": ["t"],
            "source": None,
        },
    ),
    (
        "UPDATE t SET a = CASE WHEN b THEN 'WHERE' ELSE c END WHERE d",
        "Update",
        {"assignments": [_set("a", "CASE WHEN b THEN 'WHERE' ELSE c END")], "where": "d"},
    ),
    (
        "UPDATE t SET a = ?, b = :x WHERE c = ?",
        "Update",
        {
            "placeholders": [
                {"": "Placeholder", "name": "1", "span": "?"},
                {"": "Placeholder", "name": "x", "span": ":x"},
                {"": "Placeholder", "name": "2", "span": "?"},
            ]
        },
    ),
    ("DELETE FROM t", "Delete", {"target": "t", "where": None, "source": None, "tables": []}),
    (
        "DELETE FROM a.b.t AS x WHERE x.a IN (SELECT b FROM u FOR VERSION AS OF 2)",
        "Delete",
        {"target": "a.b.t x", "where": "x.a IN (SELECT b FROM u FOR VERSION AS OF 2)", "tables": ["u @version=2"]},
    ),
    (
        "DELETE FROM t USING s, u WHERE t.id = s.id AND owner = current_user",
        "Delete",
        {
            "source": "s, u",
            "tables": ["s", "u"],
            "values": [{"": "SessionValue", "name": "current_user", "span": "current_user"}],
        },
    ),
    (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED "
        "THEN INSERT (id, a) VALUES (s.id, s.a)",
        "Merge",
        {
            "target": "t",
            "source": "s",
            "source_alias": "s",
            "on": "t.id = s.id",
            "tables": ["s"],
            "clauses": [
                _clause("MATCHED", "UPDATE", assignments=[_set("a", "s.a")]),
                _clause("NOT MATCHED", "INSERT", columns=["id", "a"], values=["s.id", "s.a"]),
            ],
        },
    ),
    (
        "MERGE INTO a.t AS x USING (SELECT * FROM s WHERE c) AS y ON x.id = y.id "
        "WHEN MATCHED AND y.gone THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY TARGET THEN INSERT * "
        "WHEN NOT MATCHED BY SOURCE AND x.old THEN UPDATE SET a = CASE WHEN b THEN 1 ELSE 2 END, c = "
        "3 WHEN NOT MATCHED BY SOURCE THEN DELETE",
        "Merge",
        {
            "target": "a.t x",
            "source": "(SELECT * FROM s WHERE c) AS y",
            "source_alias": "y",
            "tables": ["s"],
            "clauses": [
                _clause("MATCHED", "DELETE", condition="y.gone"),
                _clause("MATCHED", "UPDATE", star=True),
                _clause("NOT MATCHED", "INSERT", star=True),
                _clause(
                    "NOT MATCHED BY SOURCE",
                    "UPDATE",
                    condition="x.old",
                    assignments=[_set("a", "CASE WHEN b THEN 1 ELSE 2 END"), _set("c", "3")],
                ),
                _clause("NOT MATCHED BY SOURCE", "DELETE"),
            ],
        },
    ),
    (
        "MERGE INTO t USING a.b.s FOR VERSION AS OF 3 AS q ON t.x = q.x WHEN MATCHED THEN DO NOTHING",
        "Merge",
        {
            "source": "a.b.s FOR VERSION AS OF 3 AS q",
            "source_alias": "q",
            "tables": ["a.b.s q @version=3"],
            "clauses": [_clause("MATCHED", "NOTHING")],
        },
    ),
    (
        "MERGE INTO t USING (VALUES (?, :b)) AS v(id, x) ON t.id = v.id WHEN NOT MATCHED AND ? THEN "
        "INSERT VALUES (v.id, ?)",
        "Merge",
        {
            "source_alias": "v",
            "placeholders": [
                {"": "Placeholder", "name": n, "span": s} for n, s in (("1", "?"), ("b", ":b"), ("2", "?"), ("3", "?"))
            ],
        },
    ),
    ("TRUNCATE TABLE a.t", "Truncate", {"name": "a.t"}),
    ("TRUNCATE t;", "Truncate", {"name": "t"}),
    ("COPY t TO 'out.parquet'", "CopyTo", {"body": "t", "path": "out.parquet", "tables": ["t"], "options": []}),
    (
        "COPY (SELECT * FROM t) TO 'out.csv' (FORMAT csv, HEADER true, DELIMITER ';')",
        "CopyTo",
        {
            "body": "(SELECT * FROM t)",
            "tables": ["t"],
            "options": [("FORMAT", "csv"), ("HEADER", True), ("DELIMITER", ";")],
        },
    ),
    (
        "COPY t (a, \"B\") TO 'out' (FORMAT csv, PARTITION_BY (a, 'b'), FORCE_QUOTE *, OVERWRITE)",
        "CopyTo",
        {
            "body": "t",
            "tables": ["t"],
            "columns": ["a", '"B"'],
            "options": [("FORMAT", "csv"), ("PARTITION_BY", ("a", "b")), ("FORCE_QUOTE", "*"), ("OVERWRITE", True)],
        },
    ),
    (
        "COPY a.t TO 's3://b/x' STORED AS parquet OPTIONS ('compression' 'zstd')",
        "CopyTo",
        {"options": [("FORMAT", "parquet"), ("COMPRESSION", "zstd")]},
    ),
    (
        "COPY t FROM 'in.csv' (FORMAT csv)",
        "CopyFrom",
        {"table": "t", "columns": [], "path": "in.csv", "options": [("FORMAT", "csv")]},
    ),
    (
        "COPY INTO a.t (x, y) FROM 'in.parquet'",
        "CopyFrom",
        {"table": "a.t", "columns": ["x", "y"], "path": "in.parquet"},
    ),
]
