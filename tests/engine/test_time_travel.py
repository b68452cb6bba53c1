"""Tables as they were: snapshots, tags and branches, each under the schema that belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pinakes.core.errors import VersionNotFound
from pinakes.core.names import Name
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        session = engine.session()
        do(session, "CREATE TABLE t (a INT, b VARCHAR)")
        do(session, "INSERT INTO t VALUES (1, 'old')")
        handle = session.resolver.table(Name.of("t"))[1].handle
        first = handle.metadata.snapshots[0].snapshot_id
        handle.manage_snapshots().create_tag(first, "v1").create_branch(first, "dev").create_tag(first, "42").commit()
        do(session, "ALTER TABLE t RENAME COLUMN b TO c")
        do(session, "ALTER TABLE t ADD COLUMN d INT")
        do(session, "INSERT INTO t VALUES (2, 'new', 3)")
        yield session


def snapshots(session: Session) -> list[int]:
    return [s.snapshot_id for s in session.resolver.table(Name.of("t"))[1].handle.metadata.snapshots]


@pytest.mark.parametrize("version", ["'v1'", "v1", "{0}", "'{0}'", "'42'"])
def test_a_snapshot_and_a_tag_have_the_schema_of_their_time(session: Session, version: str) -> None:
    sql = f"SELECT * FROM t FOR VERSION AS OF {version.format(*snapshots(session))} WHERE b = 'old'"
    assert session.run(sql).read_all().to_pylist() == [{"a": 1, "b": "old"}]


def test_a_branch_has_the_schema_of_the_table(session: Session) -> None:
    found = session.run("SELECT * FROM t FOR VERSION AS OF 'dev'").read_all()
    assert found.to_pylist() == [{"a": 1, "c": "old", "d": None}]


def test_versions_of_one_table_stand_beside_each_other(session: Session) -> None:
    sql = "SELECT now.c, old.b FROM t AS now JOIN t VERSION AS OF 'v1' AS old ON now.a = old.a"
    assert rows(session, sql) == [("old", "old")]


@pytest.mark.parametrize("mark", ["$1", "?"])
def test_a_version_may_be_a_parameter(session: Session, mark: str) -> None:
    sql = f"SELECT a FROM t FOR VERSION AS OF {mark} WHERE a = {mark.replace('1', '2')}"
    assert rows(session, sql, [snapshots(session)[0], 1]) == [(1,)]


def test_a_time_means_the_snapshot_that_was_current_then(session: Session) -> None:
    handle = session.resolver.table(Name.of("t"))[1].handle
    first, second = (entry.timestamp_ms for entry in handle.history())
    sql = "SELECT count(*) FROM t FOR TIMESTAMP AS OF to_timestamp_millis({})"
    assert rows(session, sql.format(first)) == [(1,)]
    assert rows(session, sql.format(second - 1)) == [(1,)]
    assert rows(session, sql.format(second)) == [(2,)]
    with pytest.raises(VersionNotFound, match="was not there at"):
        rows(session, sql.format(first - 1))
