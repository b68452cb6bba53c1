"""How every type of catalog behaves, through SQL on a real engine and against a real server: schemas and tables.

The types are in `kinds.py`. What a type has not got (views, nested namespaces) must be refused with a clear error.
Names are in `test_behaviour_names.py`; views, several engines and transactions in `test_behaviour_sharing.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.core.errors import PinakesError
from pinakes.core.names import Name
from tests.engine.support import rows
from tests.providers.kinds import Lake

pytestmark = pytest.mark.slow


# --- schemas -----------------------------------------------------------------------------------------------------


def test_a_schema_comes_and_goes(lake: Lake) -> None:
    assert lake.name in lake.names("SHOW SCHEMAS IN cat")
    assert lake.fails("CREATE SCHEMA {s}") == "NAMESPACE_EXISTS"
    lake.run("CREATE SCHEMA IF NOT EXISTS {s}")
    assert lake.names("SHOW TABLES IN {s}") == []
    lake.run("DROP SCHEMA {s}")
    assert lake.name not in lake.names("SHOW SCHEMAS IN cat")
    assert lake.fails("DROP SCHEMA {s}") == "NAMESPACE_NOT_FOUND"
    lake.run("DROP SCHEMA IF EXISTS {s}")


def test_what_is_in_a_missing_schema(lake: Lake) -> None:
    for statement in (
        "SHOW TABLES IN {s}_gone",
        "SELECT * FROM {s}_gone.t",
        "CREATE TABLE {s}_gone.t (id INT)",
        "CREATE TABLE {s}_gone.t AS SELECT 1 AS id",
        "INSERT INTO {s}_gone.t VALUES (1)",
        "DROP TABLE {s}_gone.t",
        "ALTER TABLE {s}_gone.t ADD COLUMN x INT",
    ):
        assert lake.fails(statement) == "NAMESPACE_NOT_FOUND", statement
    assert f"{lake.name}_gone" not in lake.names("SHOW SCHEMAS IN cat")


def test_a_schema_with_something_in_it_stays(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t (id INT)")
    assert lake.fails("DROP SCHEMA {s}") == "NAMESPACE_NOT_EMPTY"
    assert lake.names("SHOW TABLES IN {s}") == ["t"]
    lake.run("DROP SCHEMA {s} CASCADE")
    assert lake.name not in lake.names("SHOW SCHEMAS IN cat")


def test_a_comment_on_a_schema(lake: Lake) -> None:
    if not lake.kind.namespace_properties:
        assert lake.fails("COMMENT ON SCHEMA {s} IS 'ours'") == "NOT_SUPPORTED"
        return
    lake.run("COMMENT ON SCHEMA {s} IS 'ours'")
    assert "ours" in str(lake.rows("SHOW CREATE SCHEMA {s}"))
    lake.run("COMMENT ON SCHEMA {s} IS 'theirs'")
    assert "ours" not in str(lake.rows("SHOW CREATE SCHEMA {s}"))
    lake.run("COMMENT ON SCHEMA {s} IS NULL")
    assert "theirs" not in str(lake.rows("SHOW CREATE SCHEMA {s}"))
    assert lake.name in lake.names("SHOW SCHEMAS IN cat")


def test_schemas_in_schemas(lake: Lake) -> None:
    if not lake.kind.nested:
        assert lake.fails("CREATE SCHEMA {s}.inner_one") == "INVALID_ARGUMENT"
        assert lake.fails("SELECT * FROM {s}.inner_one.t") == "NAMESPACE_NOT_FOUND"
        assert lake.names("SHOW SCHEMAS IN {s}") == []
        return
    lake.run("CREATE SCHEMA {s}.eu")
    lake.run("CREATE SCHEMA {s}.eu.de")
    lake.run("CREATE SCHEMA {s}.us")
    assert lake.names("SHOW SCHEMAS IN {s}") == [f"{lake.name}.eu", f"{lake.name}.us"]
    assert lake.names("SHOW SCHEMAS IN {s}.eu") == [f"{lake.name}.eu.de"]
    for number, schema in enumerate(("{s}", "{s}.eu", "{s}.eu.de")):
        lake.run(f"CREATE TABLE {schema}.t AS SELECT {number} AS id")
    assert lake.rows("SELECT id FROM {s}.t") == [(0,)]
    assert lake.rows("SELECT id FROM {s}.eu.t UNION ALL SELECT id FROM {s}.eu.de.t") == [(1,), (2,)]
    assert lake.names("SHOW TABLES IN {s}") == ["t"]
    assert lake.fails("DROP SCHEMA {s}.eu") == "NAMESPACE_NOT_EMPTY"
    lake.run("DROP SCHEMA {s} CASCADE")
    assert lake.name not in lake.names("SHOW SCHEMAS IN cat")


# --- tables ------------------------------------------------------------------------------------------------------


def test_a_table_comes_and_goes(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.orders (id BIGINT, word TEXT)")
    assert lake.rows("SELECT * FROM {s}.orders") == []
    assert lake.run("INSERT INTO {s}.orders VALUES (1, 'a'), (2, NULL)") == 2
    lake.run("INSERT INTO {s}.orders (word) VALUES ('c')")
    assert lake.rows("SELECT id, word FROM {s}.orders") == [(None, "c"), (1, "a"), (2, None)]
    lake.run("CREATE TABLE {s}.customers (id INT)")
    assert lake.names("SHOW TABLES IN {s}") == ["customers", "orders"]
    assert lake.names("SHOW TABLES IN {s} LIKE 'o%'") == ["orders"]
    assert [row[0] for row in lake.rows("DESCRIBE {s}.orders")] == ["id", "word"]
    assert "CREATE TABLE" in str(lake.rows("SHOW CREATE TABLE {s}.orders"))
    lake.run("DROP TABLE {s}.orders")
    assert lake.names("SHOW TABLES IN {s}") == ["customers"]
    assert lake.fails("SELECT * FROM {s}.orders") == "TABLE_NOT_FOUND"


def test_a_table_that_is_there_already(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    assert lake.fails("CREATE TABLE {s}.t (other INT)") == "TABLE_EXISTS"
    assert lake.fails("CREATE TABLE {s}.t AS SELECT 2 AS id") == "TABLE_EXISTS"
    lake.run("CREATE TABLE IF NOT EXISTS {s}.t (other INT)")
    lake.run("CREATE TABLE IF NOT EXISTS {s}.t AS SELECT 2 AS id")
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]
    lake.run("CREATE OR REPLACE TABLE {s}.t AS SELECT 3 AS other")
    assert lake.rows("SELECT other FROM {s}.t") == [(3,)]


def test_a_table_that_is_not_there(lake: Lake) -> None:
    for statement in (
        "SELECT * FROM {s}.t",
        "INSERT INTO {s}.t VALUES (1)",
        "UPDATE {s}.t SET id = 1",
        "DELETE FROM {s}.t",
        "TRUNCATE TABLE {s}.t",
        "DROP TABLE {s}.t",
        "ALTER TABLE {s}.t ADD COLUMN x INT",
        "ALTER TABLE {s}.t RENAME TO u",
        "DESCRIBE {s}.t",
    ):
        assert lake.fails(statement) == "TABLE_NOT_FOUND", statement
    lake.run("DROP TABLE IF EXISTS {s}.t")


def test_a_table_made_of_a_query(lake: Lake) -> None:
    assert lake.run("CREATE TABLE {s}.t AS SELECT value AS id, value * 2 AS twice FROM range(1000)") == 1000
    assert lake.rows("SELECT count(*), sum(id), sum(twice) FROM {s}.t") == [(1000, 499500, 999000)]


def test_a_query_that_fails_leaves_no_table(lake: Lake) -> None:
    with pytest.raises(PinakesError):
        lake.run("CREATE TABLE {s}.t AS SELECT CAST(word AS INT) AS id FROM (VALUES ('1'), ('x')) AS v (word)")
    assert lake.names("SHOW TABLES IN {s}") == []
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]


def test_columns_change(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT CAST(1 AS INT) AS id, 'a' AS word")
    lake.run("ALTER TABLE {s}.t ADD COLUMN extra DOUBLE")
    lake.run("ALTER TABLE {s}.t RENAME COLUMN word TO text_of")
    lake.run("ALTER TABLE {s}.t ALTER COLUMN id TYPE BIGINT")
    lake.run("INSERT INTO {s}.t VALUES (5000000000, 'b', 1.5)")
    assert lake.rows("SELECT id, text_of, extra FROM {s}.t") == [(1, "a", None), (5000000000, "b", 1.5)]
    lake.run("ALTER TABLE {s}.t DROP COLUMN text_of")
    assert [row[0] for row in lake.rows("DESCRIBE {s}.t")] == ["extra", "id"]
    assert lake.fails("SELECT text_of FROM {s}.t") == "COLUMN_NOT_FOUND"


def test_rows_change(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT value AS id, 'w' AS word FROM range(6)")
    assert lake.run("UPDATE {s}.t SET word = 'x' WHERE id >= 4") == 2
    assert lake.run("DELETE FROM {s}.t WHERE id < 2") == 2
    lake.run(
        "MERGE INTO {s}.t AS t USING (VALUES (2, 'm'), (9, 'n')) AS s (id, word) ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET word = s.word WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.word)"
    )
    assert lake.rows("SELECT id, word FROM {s}.t") == [(2, "m"), (3, "w"), (4, "x"), (5, "x"), (9, "n")]
    lake.run("TRUNCATE TABLE {s}.t")
    assert lake.rows("SELECT count(*) FROM {s}.t") == [(0,)]


def test_rows_are_marked_as_deleted(lake: Lake) -> None:
    """Merge-on-read, in versions 2 and 3: by positions, by deletion vectors; and deletes of the same file again."""
    modes = ", ".join(f"'write.{change}.mode' = 'merge-on-read'" for change in ("delete", "update", "merge"))
    for version in (2, 3):
        lake.run(
            f"CREATE TABLE {{s}}.t{version} WITH (format_version = {version}, {modes}) AS "
            "SELECT value AS id, 'w' AS word FROM range(10)"
        )
        assert lake.run(f"DELETE FROM {{s}}.t{version} WHERE id IN (2, 3)") == 2
        assert lake.run(f"UPDATE {{s}}.t{version} SET word = 'x' WHERE id = 4") == 1
        lake.run(
            f"MERGE INTO {{s}}.t{version} AS t USING (SELECT 5 AS id UNION ALL SELECT 50) AS s ON t.id = s.id "
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'n') "
            "WHEN NOT MATCHED BY SOURCE AND t.id > 8 THEN UPDATE SET word = 'far'"
        )
        expected = [(0, "w"), (1, "w"), (4, "x"), (6, "w"), (7, "w"), (8, "w"), (9, "far"), (50, "n")]
        with lake.another() as other:
            assert lake.rows(f"SELECT id, word FROM {{s}}.t{version}", other) == expected


def test_rows_are_overwritten(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t (id BIGINT, part INT) PARTITIONED BY (part)")
    lake.run("INSERT INTO {s}.t SELECT value, value % 3 FROM range(6)")
    lake.run("INSERT OVERWRITE {s}.t PARTITION (part = 1) SELECT 100")
    assert lake.rows("SELECT * FROM {s}.t") == [(0, 0), (2, 2), (3, 0), (5, 2), (100, 1)]
    lake.run("SET partition_overwrite_mode = 'dynamic'")
    lake.run("INSERT OVERWRITE {s}.t VALUES (200, 2), (300, 9)")
    assert lake.rows("SELECT * FROM {s}.t") == [(0, 0), (3, 0), (100, 1), (200, 2), (300, 9)]
    lake.run("RESET partition_overwrite_mode")
    lake.run("INSERT OVERWRITE {s}.t VALUES (1, 1)")
    with lake.another() as other:
        assert lake.rows("SELECT * FROM {s}.t", other) == [(1, 1)]


def test_a_table_is_replaced(lake: Lake) -> None:
    """History is kept: the old rows are there under their snapshot."""
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    old = lake.session.resolver.table(Name.of("cat", lake.name, "t"))[1].handle.metadata.current_snapshot_id
    lake.run("CREATE OR REPLACE TABLE {s}.t PARTITIONED BY (word) AS SELECT id + 1 AS n, 'w' AS word FROM {s}.t")
    with lake.another() as other:
        assert lake.rows("SELECT * FROM {s}.t", other) == [(2, "w")]
        assert lake.rows("SELECT * FROM {s}.t FOR VERSION AS OF " + str(old), other) == [(1,)]


def test_rows_are_written_in_order(lake: Lake) -> None:
    """By the table's order, then by the query's."""
    lake.run("CREATE TABLE {s}.sorted (id BIGINT) SORTED BY (id DESC)")
    lake.run("INSERT INTO {s}.sorted SELECT value FROM range(100)")
    lake.run("CREATE TABLE {s}.queried (id BIGINT)")
    lake.run("INSERT INTO {s}.queried SELECT value FROM range(100) ORDER BY value DESC")
    with lake.another() as other:
        for name in ("sorted", "queried"):
            found = rows(other, lake.sql(f"SELECT id FROM {{s}}.{name}"))
            assert found == [(id,) for id in range(99, -1, -1)], name


def test_files_are_loaded_once(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id\n1\n2\n")
    lake.run("CREATE TABLE {s}.t (id BIGINT)")
    lake.run(f"COPY INTO {{s}}.t FROM '{tmp_path}/in/*.csv'")
    (tmp_path / "in" / "b.csv").write_text("id\n3\n")
    with lake.another() as other:
        lake.run(f"COPY INTO {{s}}.t FROM '{tmp_path}/in/*.csv'", other)
    assert lake.rows("SELECT id FROM {s}.t") == [(1,), (2,), (3,)]


def test_a_partitioned_table(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t (id BIGINT, day DATE) PARTITIONED BY (bucket(4, id), day)")
    lake.run("INSERT INTO {s}.t SELECT value, DATE '2026-01-01' + CAST(value % 3 AS INT) FROM range(30)")
    assert lake.rows("SELECT day, count(*) FROM {s}.t GROUP BY day ORDER BY day")[0][1] == 10
    lake.run("DELETE FROM {s}.t WHERE day = DATE '2026-01-01'")
    assert lake.rows("SELECT count(*) FROM {s}.t") == [(20,)]


def test_values_of_all_types_come_back(lake: Lake) -> None:
    values = (
        "true AS b, CAST(7 AS INT) AS i, CAST(-8 AS BIGINT) AS l, CAST(1.5 AS REAL) AS f, 2.25 AS d, "
        "CAST(12.34 AS DECIMAL(10, 2)) AS n, DATE '2026-02-03' AS day, TIMESTAMP '2026-02-03 04:05:06.789' AS ts, "
        "'ünï 日本' AS s, X'00ff' AS raw, [1, 2, NULL] AS list, named_struct('x', 1, 'y', 'z') AS struct"
    )
    lake.run(f"CREATE TABLE {{s}}.t AS SELECT {values}")
    assert lake.rows("SELECT * FROM {s}.t") == lake.rows(f"SELECT {values}")


def test_renaming_a_table(lake: Lake) -> None:
    lake.run("CREATE SCHEMA {s}_other")
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("CREATE TABLE {s}.taken AS SELECT 2 AS id")
    if not lake.kind.renames:
        assert lake.fails("ALTER TABLE {s}.t RENAME TO {s}.u") == "NOT_SUPPORTED"
        assert lake.names("SHOW TABLES IN {s}") == ["t", "taken"]
        return
    lake.run("ALTER TABLE {s}.t RENAME TO {s}.u")
    assert lake.names("SHOW TABLES IN {s}") == ["taken", "u"]
    assert lake.fails("ALTER TABLE {s}.u RENAME TO {s}.taken") == "TABLE_EXISTS"
    assert lake.fails("ALTER TABLE {s}.u RENAME TO {s}_gone.u") == "NAMESPACE_NOT_FOUND"
    lake.run("ALTER TABLE {s}.u RENAME TO {s}_other.v")
    lake.run("INSERT INTO {s}_other.v VALUES (5)")
    assert lake.rows("SELECT id FROM {s}_other.v") == [(1,), (5,)]
    assert lake.names("SHOW TABLES IN {s}") == ["taken"]


def test_a_table_under_the_old_name_of_another_shares_nothing(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("ALTER TABLE {s}.t RENAME TO {s}.u" if lake.kind.renames else "CREATE TABLE {s}.u AS SELECT * FROM {s}.t")
    if not lake.kind.renames:
        lake.run("DROP TABLE {s}.t")
    lake.run("CREATE TABLE {s}.t AS SELECT 2 AS id")
    assert lake.rows("SELECT id FROM {s}.u UNION ALL SELECT id FROM {s}.t") == [(1,), (2,)]
    lake.run("DROP TABLE {s}.t PURGE")
    assert lake.rows("SELECT id FROM {s}.u") == [(1,)]


def test_a_dropped_table_re_created_is_empty(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("DROP TABLE {s}.t")
    lake.run("CREATE TABLE {s}.t (id BIGINT)")
    assert lake.rows("SELECT id FROM {s}.t") == []
