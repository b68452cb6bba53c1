"""CHECK constraints beside concurrent changes, and with properties that another program wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import CheckViolation, InvalidArgument
from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from pinakes.engine.iceberg.write import commit
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, rows


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path) as engine:
        do(engine.session(), "CREATE TABLE t (a INTEGER)")
        do(engine.session(), "INSERT INTO t VALUES (1)")
        yield engine


def before_next_commit(monkeypatch: pytest.MonkeyPatch, session: Session, sql: str) -> None:
    """Runs a statement of another session right before the next commit, once."""
    real = commit._compare_and_set

    def hooked(transaction: object) -> None:
        monkeypatch.setattr(commit, "_compare_and_set", real)
        do(session, sql)
        real(transaction)  # type: ignore[arg-type]

    monkeypatch.setattr(commit, "_compare_and_set", hooked)


def test_rows_are_checked_again_if_a_constraint_was_added_meanwhile(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with an_engine(tmp_path) as other:
        before_next_commit(monkeypatch, other.session(), "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)")
        with pytest.raises(CheckViolation, match="a new row violates the CHECK constraint c"):
            do(engine.session(), "INSERT INTO t VALUES (-1)")
    assert rows(engine.session(), "SELECT a FROM t") == [(1,)]


def test_a_constraint_is_checked_against_rows_that_were_just_added(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with an_engine(tmp_path) as other:
        before_next_commit(monkeypatch, other.session(), "INSERT INTO t VALUES (-1)")
        with pytest.raises(CheckViolation, match=r"1 rows of .* violate a > 0"):
            do(engine.session(), "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)")


def test_rows_of_another_program_that_violate_a_constraint_can_be_compacted_and_deleted(engine: Engine) -> None:
    session = engine.session()
    do(session, "INSERT INTO t VALUES (-1)")
    set_property(session, "pinakes.check.c", "a > 0")
    do(session, "CALL system.rewrite_data_files('t')")
    with pytest.raises(CheckViolation):
        do(session, "INSERT INTO t VALUES (-2)")
    do(session, "DELETE FROM t WHERE a = 1")
    assert rows(session, "SELECT a FROM t") == [(-1,)]
    do(session, "DELETE FROM t WHERE a = -1")
    do(session, "INSERT INTO t VALUES (2)")


@pytest.mark.parametrize(
    "condition",
    [
        "a > 0) IS FALSE UNION SELECT * FROM t WHERE (true",
        "EXISTS (SELECT 1 FROM t)",
        "a IN (FROM t)",
        "a > $1",
        "a > '",
    ],
)
def test_a_condition_of_another_program_can_read_nothing_else(engine: Engine, condition: str) -> None:
    session = engine.session()
    set_property(session, "pinakes.check.c", condition)
    with pytest.raises(InvalidArgument, match="the CHECK constraint c can't be read: ALTER TABLE … DROP CONSTRAINT"):
        do(session, "INSERT INTO t VALUES (1)")
    do(session, "ALTER TABLE t DROP CONSTRAINT c")
    do(session, "INSERT INTO t VALUES (1)")


def set_property(session: Session, key: str, value: str) -> None:
    """As another program does."""
    table = session.resolver.table(Name.of("t"))[1].handle
    with table.transaction() as transaction:
        transaction.set_properties({key: value})
