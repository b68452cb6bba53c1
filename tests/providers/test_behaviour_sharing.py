"""How every type of catalog behaves (see `test_behaviour.py`): views, engines that share it, mounts, transactions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.support import Row
from tests.providers.kinds import Lake

pytestmark = pytest.mark.slow


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
