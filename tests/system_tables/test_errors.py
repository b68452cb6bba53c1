"""What a catalog can't tell: the rest is answered, system.metadata.errors has a row, and nothing waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pinakes.core.errors import (
    CatalogUnavailable,
    DataCorrupt,
    PermissionDenied,
    QueryCanceled,
    TableNotFound,
)
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_thread, rows, wait_until
from tests.system_tables.counting import CountingCatalog, engine_with

ERRORS = "SELECT catalog_name, schema_name, table_name, operation, code FROM system.metadata.errors"


def raising(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def waiting(event: threading.Event) -> None:
    event.wait(60)


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    """What hangs goes on when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def catalog(hang: threading.Event) -> CountingCatalog:
    """One namespace is forbidden, one hangs, and one table's metadata is lost."""
    tables = ["a", "b", "lost"]
    catalog = CountingCatalog({(name,): (tables, []) for name in ("forbidden", "good", "hangs")})
    catalog.trouble = {
        ("list_tables", ("forbidden",), ""): raising(PermissionDenied("the catalog refused: Forbidden")),
        ("list_tables", ("hangs",), ""): partial(waiting, hang),
        ("load_table", ("good",), "lost"): raising(DataCorrupt("the metadata file v3.json is gone")),
    }
    return catalog


@pytest.fixture
def engine(catalog: CountingCatalog) -> Iterator[Engine]:
    with engine_with(cat=catalog) as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    session = engine.session()
    do(session, "SET metadata_timeout = '200ms'")
    return session


def test_the_rest_is_answered_and_the_errors_are_rows(session: Session) -> None:
    query = "SELECT DISTINCT table_schema, table_name FROM cat.information_schema.columns WHERE udt_name = 'bigint'"
    stored = [row for row in rows(session, query) if row[0] != "information_schema"]
    assert sorted(stored) == [("good", "a"), ("good", "b")]
    assert sorted(rows(session, ERRORS), key=str) == [
        ("cat", "forbidden", None, "list the tables", "PERMISSION_DENIED"),
        ("cat", "good", "lost", "load the table", "DATA_CORRUPT"),
        ("cat", "hangs", None, "list the tables", "CATALOG_UNAVAILABLE"),
    ]
    assert [w for w in session.warnings if "system.metadata.errors" in w]


def test_names_are_there_although_a_table_is_lost(session: Session) -> None:
    found = rows(session, "SELECT table_name FROM cat.information_schema.tables WHERE table_schema = 'good'")
    assert found == [("a",), ("b",), ("lost",)]
    assert rows(session, ERRORS) == []


@pytest.mark.parametrize(
    ("schema", "error"), [("forbidden", PermissionDenied), ("hangs", CatalogUnavailable), ("good", DataCorrupt)]
)
def test_it_fails_if_that_is_wanted(session: Session, schema: str, error: type[Exception]) -> None:
    do(session, "SET metadata_errors = 'fail'")
    with pytest.raises(error, match="metadata_errors is 'fail'"):
        rows(session, f"SELECT * FROM cat.information_schema.columns WHERE table_schema = '{schema}'")


def test_nobody_sees_the_errors_of_another(engine: Engine, session: Session) -> None:
    rows(session, "SELECT * FROM cat.information_schema.tables")
    assert len(rows(session, ERRORS)) == 2
    assert rows(engine.session(Identity("somebody")), ERRORS) == []
    assert rows(engine.session(Identity(session.identity.user, token="another login")), ERRORS) == []


def test_what_may_not_be_loaded_or_is_gone_is_no_error(session: Session, catalog: CountingCatalog) -> None:
    catalog.trouble = {
        ("load_table", ("good",), "a"): raising(PermissionDenied("no")),
        ("load_table", ("good",), "b"): raising(TableNotFound("gone")),
    }
    do(session, "SET metadata_errors = 'fail'")
    query = "SELECT DISTINCT table_name FROM cat.information_schema.columns WHERE table_schema = 'good'"
    assert rows(session, query) == [("lost",)]
    assert rows(session, ERRORS) == []


def test_an_error_that_is_nobody_s_is_a_row_too(session: Session, catalog: CountingCatalog) -> None:
    catalog.trouble = {("list_namespaces", (), ""): raising(ZeroDivisionError("oops"))}
    assert rows(session, "SELECT * FROM cat.information_schema.schemata") == [("cat", "information_schema")]
    assert rows(session, ERRORS) == [("cat", None, None, "list the namespaces", "INTERNAL_ERROR")]


def test_a_catalog_all_of_whose_calls_hang_is_given_up_soon(
    session: Session, catalog: CountingCatalog, hang: threading.Event
) -> None:
    names = [f"t{i:03}" for i in range(500)]
    catalog.tree = {("big",): (names, [])}
    catalog.trouble = {("load_table", ("big",), n): partial(waiting, hang) for n in names}
    assert rows(session, "SELECT * FROM cat.information_schema.columns WHERE table_schema = 'big'") == []
    assert catalog.counts["load_table"] == 8
    assert len(rows(session, ERRORS)) <= 20


def test_another_session_is_not_held_up(session: Session, engine: Engine, hang: threading.Event) -> None:
    do(session, "SET metadata_timeout = '60s'")
    waits = in_thread(lambda: rows(session, "SELECT * FROM cat.information_schema.tables"))
    assert rows(engine.session(), "SELECT 1 AS one UNION ALL SELECT 2") != []
    assert rows(session, "SELECT 1 AS one") == [(1,)]
    hang.set()
    assert waits()


def test_who_waits_can_be_stopped(session: Session, engine: Engine) -> None:
    do(session, "SET metadata_timeout = '60s'")
    text = "SELECT * FROM cat.information_schema.tables WHERE table_schema = 'hangs'"
    waits = in_thread(lambda: rows(session, text))
    query = wait_until(lambda: [q for q in list(session.running) if q.shown == text], "the query runs")[0]
    query.cancel()
    with pytest.raises(QueryCanceled):
        waits()
    assert rows(session, ERRORS) == []


def test_a_metadata_file_that_is_gone(tmp_path: Path) -> None:
    """With a real catalog: the others of the schema are there."""
    with an_engine(tmp_path) as engine:
        session = engine.session()
        for name in ("kept", "lost"):
            do(session, f"CREATE TABLE {name} (a BIGINT)")
        for file in tmp_path.rglob("lost*/metadata/*.json"):
            file.unlink()
        engine.caches.clear()
        query = "SELECT table_name, column_name FROM lake.information_schema.columns WHERE table_schema = 'default'"
        assert rows(session, query) == [("kept", "a")]
        assert [row[:4] for row in rows(session, ERRORS)] == [("lake", "default", "lost", "load the table")]
        assert ("lost",) in rows(session, "SELECT table_name FROM information_schema.tables")


def test_a_catalog_that_can_not_be_opened(session: Session, tmp_path: Path) -> None:
    do(session, f"ATTACH '{tmp_path / 'x'}' AS away (TYPE files, VERIFY false)")
    assert ("cat", "good") in rows(session, "SELECT * FROM information_schema.schemata")
    assert {row[:3] for row in rows(session, ERRORS)} == {("away", None, None)}
