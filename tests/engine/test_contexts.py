"""Contexts of sessions: what DataFusion remembers of files is each user's, and all else is each session's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from datafusion import udf

from pinakes.core.errors import DataCorrupt
from pinakes.core.identity import Identity
from pinakes.engine.datafusion.session_contexts import MOST
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows

ALICE = Identity("alice", roles=frozenset({"admin"}))
SQL = "SELECT sum(a) AS s FROM t"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


def spoilt(session: Session, tmp_path: Path) -> None:
    """A table of which this session has read the only file, whose footer nobody can read from now on."""
    do(session, "CREATE TABLE t AS SELECT 1 AS a")
    assert rows(session, SQL) == [(1,)]
    (path,) = (tmp_path / "lake").rglob("*.parquet")
    before = path.stat()
    path.write_bytes(path.read_bytes()[:-4] + b"none")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # so that it looks the same


def test_a_new_session_reads_no_footer_that_its_user_has_read(engine: Engine, tmp_path: Path) -> None:
    first = engine.session(ALICE)
    spoilt(first, tmp_path)
    first.close()
    assert rows(engine.session(ALICE), SQL) == [(1,)]


def test_another_user_reads_footers_again(engine: Engine, tmp_path: Path) -> None:
    spoilt(engine.session(ALICE), tmp_path)
    for other in (Identity("bob"), Identity("alice", "another token")):
        with pytest.raises(DataCorrupt):
            rows(engine.session(other), SQL)


def test_no_room_for_footers_is_no_room_whoever_comes_next(engine: Engine, tmp_path: Path) -> None:
    session = engine.session(ALICE)
    spoilt(session, tmp_path)
    do(session, "SET GLOBAL cache.footers.max_bytes = 0")
    session.close()
    with pytest.raises(DataCorrupt):
        rows(engine.session(ALICE), SQL)


def test_only_some_users_are_known_when_they_have_no_session(engine: Engine, tmp_path: Path) -> None:
    session = engine.session(ALICE)
    spoilt(session, tmp_path)
    for number in range(MOST):
        rows(engine.session(Identity(f"user {number}")), "SELECT 1 AS one")
    assert rows(session, SQL) == [(1,)]
    with pytest.raises(DataCorrupt):
        rows(engine.session(ALICE), SQL)


def test_settings_and_functions_are_those_of_one_session(engine: Engine) -> None:
    early = engine.session(ALICE)
    do(early, "SET time_zone = 'Asia/Tokyo'")
    early.context.register_udf(udf(lambda x: x, [pa.int64()], pa.int64(), "volatile", name="mine"))
    late = engine.session(ALICE)
    told = "SELECT CAST(TIMESTAMPTZ '2020-01-01 00:00:00Z' AS VARCHAR) AS t"
    assert rows(early, told) == [("2020-01-01 09:00:00+09",)]
    assert rows(late, told) == [("2020-01-01 00:00:00+00",)]
    with pytest.raises(ValueError, match="mine"):
        late.context.sql("SELECT mine(1)")


def test_a_path_is_no_table_for_datafusion_itself(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="not found"):
        engine.session().context.sql(f"SELECT * FROM '{tmp_path / 'x.csv'}'")
