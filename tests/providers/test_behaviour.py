"""How every type of catalog behaves, through SQL on a real engine and against a real server.

The types are in `kinds.py`. What a type has not got (views, nested namespaces) must be refused with a clear error.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from pinakes.core.errors import InvalidArgument, NamespaceNotFound, ParseError, PinakesError
from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.support import Row, an_engine, rows
from tests.providers.kinds import EXCEPTIONS, KINDS, ODD_NAMES, Lake, attached, new_name, store_secret

pytestmark = pytest.mark.slow


@pytest.fixture(params=KINDS)
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    kind = KINDS[request.param]
    case = (request.param, request.node.originalname, request.node.callspec.params.get("name", ""))
    if (found := EXCEPTIONS.get(case)) is not None:
        error, reason = found
        chance = error is AssertionError  # whether two collide
        request.node.add_marker(pytest.mark.xfail(raises=error, reason=reason, strict=not chance))
    facts = request.getfixturevalue(f"{kind.server}_server") if kind.server else {}
    store = [store_secret(request.getfixturevalue(f"{kind.store}_server"))] if kind.store else []
    statements = [*store, *kind.attach(facts, tmp_path)]
    with an_engine() as engine:
        lake = Lake(kind, statements, engine, attached(engine, statements), new_name())
        lake.run("CREATE SCHEMA {s}")
        yield lake


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


# --- names -------------------------------------------------------------------------------------------------------


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_of_tables(lake: Lake, name: str) -> None:
    table = f"{{s}}.{quoted(name)}"
    lake.run(f"CREATE TABLE {table} AS SELECT 1 AS id")
    lake.run(f"INSERT INTO {table} VALUES (2)")
    assert lake.names("SHOW TABLES IN {s}") == [name]
    assert lake.rows(f"SELECT id FROM {table}") == [(1,), (2,)]
    if lake.kind.renames:
        lake.run(f"ALTER TABLE {table} RENAME TO {{s}}.plain")
        lake.run(f"ALTER TABLE {{s}}.plain RENAME TO {table}")
    lake.run(f"DROP TABLE {table}")
    assert lake.names("SHOW TABLES IN {s}") == []


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_of_schemas(lake: Lake, name: str) -> None:
    schema = f"cat.{quoted(f'{lake.name}{name}')}"
    lake.run(f"CREATE SCHEMA {schema}")
    lake.run(f"CREATE TABLE {schema}.t AS SELECT 1 AS id")
    assert lake.names(f"SHOW TABLES IN {schema}") == ["t"]
    assert lake.rows(f"SELECT id FROM {schema}.t") == [(1,)]
    lake.run(f"DROP SCHEMA {schema} CASCADE")


@pytest.mark.parametrize("name", ["..", ".", ""])
def test_names_that_a_path_would_lose(lake: Lake, name: str) -> None:
    """They work or are refused; what must not be is that something else is meant by them."""
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    for statement in (
        f"CREATE TABLE {{s}}.{quoted(name)} (id INT)",
        f"DROP TABLE IF EXISTS {{s}}.{quoted(name)}",
        f"DROP SCHEMA IF EXISTS cat.{quoted(name)}",
    ):
        with suppress(InvalidArgument, ParseError, NamespaceNotFound):
            lake.run(statement)
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]


# --- views -------------------------------------------------------------------------------------------------------


def test_a_view_comes_and_goes(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT value AS id FROM range(4)")
    if not lake.kind.views:
        for statement in ("CREATE VIEW {s}.v AS SELECT 1 AS x", "SHOW VIEWS IN {s}"):
            assert lake.fails(statement) == "NOT_SUPPORTED", statement
        return
    lake.run("CREATE VIEW {s}.v AS SELECT id FROM {s}.t WHERE id > 1")
    assert lake.rows("SELECT id FROM {s}.v") == [(2,), (3,)]
    assert lake.names("SHOW VIEWS IN {s}") == ["v"]
    assert lake.fails("CREATE VIEW {s}.v AS SELECT 1 AS x") == "VIEW_EXISTS"
    lake.run("CREATE VIEW IF NOT EXISTS {s}.v AS SELECT 1 AS x")
    lake.run("CREATE OR REPLACE VIEW {s}.v AS SELECT id + 10 AS more FROM {s}.t")
    assert lake.rows("SELECT more FROM {s}.v") == [(10,), (11,), (12,), (13,)]
    assert "more" in str(lake.rows("SHOW CREATE VIEW {s}.v"))
    lake.run("ALTER VIEW {s}.v RENAME TO w")
    assert lake.names("SHOW VIEWS IN {s}") == ["w"]
    assert lake.rows("SELECT max(more) FROM {s}.w") == [(13,)]
    lake.run("DROP VIEW {s}.w")
    assert lake.names("SHOW VIEWS IN {s}") == []
    assert lake.fails("DROP VIEW {s}.w") == "VIEW_NOT_FOUND"
    lake.run("DROP VIEW IF EXISTS {s}.w")


def test_a_view_and_a_table_share_their_names(lake: Lake) -> None:
    if not lake.kind.views:
        return
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("CREATE VIEW {s}.v AS SELECT 2 AS id")
    assert lake.fails("CREATE VIEW {s}.t AS SELECT 3 AS id") in ("TABLE_EXISTS", "VIEW_EXISTS")
    assert lake.fails("CREATE TABLE {s}.v (id INT)") in ("TABLE_EXISTS", "VIEW_EXISTS")
    assert lake.rows("SELECT id FROM {s}.t UNION ALL SELECT id FROM {s}.v") == [(1,), (2,)]
    assert lake.fails("DROP SCHEMA {s}") == "NAMESPACE_NOT_EMPTY"


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_of_views(lake: Lake, name: str) -> None:
    if not lake.kind.views:
        return
    lake.run(f"CREATE VIEW {{s}}.{quoted(name)} AS SELECT 1 AS id")
    lake.run(f"CREATE OR REPLACE VIEW {{s}}.{quoted(name)} AS SELECT 2 AS id")
    assert lake.names("SHOW VIEWS IN {s}") == [name]
    assert lake.rows(f"SELECT id FROM {{s}}.{quoted(name)}") == [(2,)]
    lake.run(f"DROP VIEW {{s}}.{quoted(name)}")


# --- two engines on one catalog ----------------------------------------------------------------------------------


def test_another_engine_sees_what_was_made(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    with lake.another() as other:
        assert lake.rows("SELECT id FROM {s}.t", other) == [(1,)]
        lake.run("INSERT INTO {s}.t VALUES (2)", other)
    lake.run("INSERT INTO {s}.t VALUES (3)")
    assert lake.rows("SELECT id FROM {s}.t") == [(1,), (2,), (3,)]


def test_what_two_engines_write_at_once_is_all_there(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 9 AS who, 9 AS id")
    assert write_at_once(lake, 5) == [*both(5), (9, 9)]


def test_the_first_rows_of_two_engines_are_all_there(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t (who INT, id INT)")
    assert write_at_once(lake, 1) == both(1)


def write_at_once(lake: Lake, each: int) -> list[Row]:
    def write(who: int, session: Session) -> None:
        for number in range(each):
            lake.run(f"INSERT INTO {{s}}.t VALUES ({who}, {number})", session)

    with lake.another() as other, ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write, 0, lake.session), pool.submit(write, 1, other)]:
            done.result()
    return lake.rows("SELECT who, id FROM {s}.t")


def both(each: int) -> list[Row]:
    return [(who, number) for who in range(2) for number in range(each)]


def test_two_engines_count_up_at_once(lake: Lake) -> None:
    """A change that depends on what it reads is done on what is there at its commit: none is lost."""
    lake.run("CREATE TABLE {s}.t AS SELECT 0 AS n")
    each = 3

    def count(session: Session) -> None:
        for _ in range(each):
            lake.run("UPDATE {s}.t SET n = n + 1", session)

    with lake.another() as other, ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(count, lake.session), pool.submit(count, other)]:
            done.result()
    lake.run("ALTER TABLE {s}.t ADD COLUMN x INT")
    assert lake.rows("SELECT n FROM {s}.t") == [(2 * each,)]


def test_one_of_two_engines_makes_a_table(lake: Lake) -> None:
    def make(number: int, session: Session) -> str:
        try:
            lake.run(f"CREATE TABLE {{s}}.t AS SELECT {number} AS id", session)
        except PinakesError as error:
            return error.code
        return "made"

    with lake.another() as other, ThreadPoolExecutor(2) as pool:
        made = sorted(pool.map(make, (1, 2), (lake.session, other)))
    assert made in (["TABLE_EXISTS", "made"], ["COMMIT_CONFLICT", "made"])
    assert lake.rows("SELECT count(*) FROM {s}.t") == [(1,)]


# --- mounts ------------------------------------------------------------------------------------------------------


def test_detached_and_attached_again(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("DETACH cat")
    assert lake.fails("SELECT id FROM {s}.t") in ("CATALOG_NOT_FOUND", "NAMESPACE_NOT_FOUND")
    lake.run(lake.statements[-1])
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]


def test_read_only(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("DETACH cat")
    lake.run(lake.statements[-1].removesuffix(")") + ", READ_ONLY true)")
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]
    for statement in ("INSERT INTO {s}.t VALUES (2)", "DROP TABLE {s}.t", "CREATE SCHEMA {s}_new", "DROP SCHEMA {s}"):
        assert lake.fails(statement) == "PERMISSION_DENIED", statement


def test_a_default_namespace(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("DETACH cat")
    lake.run(lake.statements[-1].removesuffix(")") + ", DEFAULT_NAMESPACE '{n}')")
    assert lake.rows("SELECT id FROM cat.t") == [(1,)]


def test_an_unknown_option(lake: Lake) -> None:
    with pytest.raises(PinakesError, match=r"has no option WAREHUOSE.*Options: .*DEFAULT_NAMESPACE"):
        lake.run(lake.statements[-1].removesuffix(")").replace("AS cat", "AS dog") + ", WAREHUOSE 'x')")


# --- transactions ------------------------------------------------------------------------------------------------


def test_a_transaction_is_visible_as_a_whole(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.a AS SELECT 1 AS id")
    lake.run("CREATE TABLE {s}.b AS SELECT 1 AS id")
    lake.run("BEGIN")
    if not lake.kind.transactions:
        assert lake.fails("INSERT INTO {s}.a VALUES (2)") == "NOT_SUPPORTED"
        lake.run("ROLLBACK")
        return
    lake.run("INSERT INTO {s}.a VALUES (2)")
    lake.run("UPDATE {s}.a SET id = id * 10")
    lake.run("DELETE FROM {s}.b")
    lake.run("ALTER TABLE {s}.b ADD COLUMN n INT")
    lake.run("INSERT INTO {s}.b VALUES (7, 8)")
    assert lake.rows("SELECT id FROM {s}.a") == [(10,), (20,)]
    with lake.another() as other:
        assert lake.rows("SELECT * FROM {s}.a", other) == [(1,)]
        assert lake.rows("SELECT * FROM {s}.b", other) == [(1,)]
    lake.run("COMMIT")
    with lake.another() as other:
        assert lake.rows("SELECT id FROM {s}.a", other) == [(10,), (20,)]
        assert lake.rows("SELECT * FROM {s}.b", other) == [(7, 8)]


def test_a_transaction_that_lost_changes_nothing(lake: Lake) -> None:
    """Also not the table that nobody else has touched."""
    if not lake.kind.transactions:
        pytest.skip("it has none")
    lake.run("CREATE TABLE {s}.a AS SELECT 1 AS id")
    lake.run("CREATE TABLE {s}.b AS SELECT 1 AS id")
    lake.run("BEGIN")
    lake.run("INSERT INTO {s}.a VALUES (2)")
    lake.run("INSERT INTO {s}.b VALUES (2)")
    with lake.another() as other:
        lake.run("INSERT INTO {s}.b VALUES (3)", other)
    assert lake.fails("COMMIT") == "COMMIT_CONFLICT"
    assert lake.rows("SELECT id FROM {s}.a") == [(1,)]
    assert lake.rows("SELECT id FROM {s}.b") == [(1,), (3,)]


def test_definitions_in_a_transaction(lake: Lake) -> None:
    """They are part of it, or take effect at once: in neither case the session is stuck."""
    lake.run("CREATE TABLE {s}.a AS SELECT 1 AS id")
    takes = lake.kind.creates_in_transactions

    def seen_by_others() -> list[str]:
        with lake.another() as other:
            return [row[0] for row in lake.rows("SHOW TABLES IN {s}", other)]

    lake.run("BEGIN")
    lake.run("CREATE TABLE {s}.b AS SELECT * FROM {s}.a")
    assert lake.names("SHOW TABLES IN {s}") == ["a", "b"]
    assert seen_by_others() == (["a"] if takes else ["a", "b"])
    if not takes:
        lake.run("DROP TABLE {s}.b")
        lake.run("ROLLBACK")
        assert seen_by_others() == ["a"]
        lake.run("INSERT INTO {s}.a VALUES (2)")
        return
    lake.run("INSERT INTO {s}.b VALUES (2)")
    lake.run("ALTER TABLE {s}.b RENAME TO {s}.c")
    lake.run("CREATE VIEW {s}.v AS SELECT id + 1 AS id FROM {s}.c")
    lake.run("DROP TABLE {s}.a")
    assert lake.names("SHOW TABLES IN {s}") == ["c", "v"]
    assert seen_by_others() == ["a"]
    lake.run("COMMIT")
    assert seen_by_others() == ["c", "v"]
    assert lake.rows("SELECT id FROM {s}.v") == [(2,), (3,)]


# --- branches ----------------------------------------------------------------------------------------------------


def test_branches(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("ALTER TABLE {s}.t CREATE BRANCH b RETAIN 9 DAYS")
    lake.run("ALTER TABLE {s}.t CREATE TAG first")
    lake.run("INSERT INTO {s}.t FOR BRANCH b VALUES (2)")
    lake.run("UPDATE {s}.t FOR BRANCH b SET id = id + 10")
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]
    with lake.another() as other:
        assert lake.rows("SELECT id FROM {s}.t FOR VERSION AS OF 'b'", other) == [(11,), (12,)]
    lake.run("CALL cat.system.fast_forward('{n}.t', 'main', 'b')")
    assert lake.rows("SELECT id FROM {s}.t") == [(11,), (12,)]
    lake.run("CALL cat.system.set_current_snapshot('{n}.t', ref => 'first')")
    assert lake.rows("SELECT id FROM {s}.t") == [(1,)]
    lake.run("ALTER TABLE {s}.t DROP BRANCH b")
    assert lake.fails("INSERT INTO {s}.t FOR BRANCH b VALUES (2)") == "VERSION_NOT_FOUND"


def test_expired_snapshots_are_gone(lake: Lake) -> None:
    lake.run("CREATE TABLE {s}.t AS SELECT 1 AS id")
    lake.run("UPDATE {s}.t SET id = 2")
    lake.run("CALL cat.system.expire_snapshots('{n}.t', older_than => now() + INTERVAL '1' DAY)")
    with lake.another() as other:
        assert lake.rows("SELECT id FROM {s}.t", other) == [(2,)]
    assert lake.rows("CALL cat.system.remove_orphan_files('{n}.t', dry_run => true)") == []
