"""Mounts and secrets where SQL alone can't see: caches, threads, servers that say nothing, the configuration."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import load_config
from pinakes.core.errors import ConfigError, InvalidArgument, QueryCanceled, QueryTimeout, SecretNotFound
from pinakes.core.identity import Identity
from pinakes.core.secrets import Secret
from pinakes.engine.session import Session
from pinakes.providers.sqlite import SqliteCatalog
from tests.engine.support import PATIENCE, an_engine, in_thread, wait_until


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in session.run(sql).read_all().to_pylist()]


# --- what is remembered ---------------------------------------------------------------------------------------------


def test_a_replaced_secret_forgets_what_the_old_one_showed(tmp_path: Path) -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("CREATE SECRET keys (TYPE s3, KEY_ID 'a', SECRET 'b')")
        session.run(f"ATTACH '{tmp_path}' AS one (TYPE sqlite, STORAGE_SECRET keys)")
        session.run(f"ATTACH '{tmp_path}' AS other (TYPE sqlite)")
        assert rows(session, "SHOW SCHEMAS IN one") == [("information_schema",)]
        session.run("CREATE SCHEMA other.s")
        session.run("CREATE OR REPLACE SECRET keys (TYPE s3, KEY_ID 'a', SECRET 'c')")
        assert rows(session, "SHOW SCHEMAS IN one") == [("information_schema",), ("s",)]


def test_nothing_is_remembered_of_a_detached_catalog_that_passes_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteCatalog, "PASSES_TOKEN", True, raising=False)
    with an_engine() as engine:
        alice, bob = engine.session(Identity("alice", "a")), engine.session(Identity("bob", "b"))
        alice.run(f"ATTACH '{tmp_path}' AS one (TYPE sqlite, PASS_TOKEN true, VISIBILITY all)")
        for session in (alice, bob):
            rows(session, "SHOW SCHEMAS IN one")
        assert engine.caches.listings.stats().entries == 2
        alice.run("DETACH one")
        assert engine.caches.listings.stats().entries == 0


def test_a_client_that_is_not_kept_stays_open_for_who_works_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does one whose time is over while a long statement runs."""
    monkeypatch.setattr(SqliteCatalog, "PASSES_TOKEN", True, raising=False)
    with an_engine() as engine:
        session = engine.session(Identity("alice", "a", frozenset({"admin"})))
        session.run("SET GLOBAL cache.clients.max_entries = 0")
        session.run(f"ATTACH '{tmp_path}' AS one (TYPE sqlite, PASS_TOKEN true)")
        session.run("CREATE SCHEMA one.s")
        session.run("CREATE TABLE one.s.t AS SELECT 1 AS a")
        session.run("INSERT INTO one.s.t VALUES (2)")
        assert rows(session, "SELECT sum(a) FROM one.s.t") == [(3,)]
        assert engine.caches.clients.stats().entries == 0


def test_a_change_under_one_name_of_a_catalog_is_seen_under_the_other(tmp_path: Path) -> None:
    with an_engine() as engine:
        session = engine.session()
        (tmp_path / "link").symlink_to(tmp_path)
        session.run(f"ATTACH '{tmp_path}' AS one (TYPE sqlite, CATALOG_NAME 'c')")
        session.run(f"ATTACH '{tmp_path / 'link'}' AS other (TYPE sqlite, CATALOG_NAME 'c')")
        assert rows(session, "SHOW SCHEMAS IN other") == [("information_schema",)]
        session.run("CREATE SCHEMA one.s")
        assert rows(session, "SHOW SCHEMAS IN other") == [("information_schema",), ("s",)]
        session.run("CREATE TABLE one.s.t AS SELECT 1 AS a")
        assert rows(session, "SELECT a FROM other.s.t") == [(1,)]
        session.run("INSERT INTO one.s.t VALUES (2)")
        assert rows(session, "SELECT sum(a) FROM other.s.t") == [(3,)]
        session.run("DROP TABLE other.s.t")
        assert rows(session, "SHOW TABLES IN one.s") == []
        rows(session, "SHOW TABLES IN other.s")
        mount = str(session.catalogs.get("other").mount.id)
        caches = (
            engine.caches.listings.cache,
            engine.caches.table_metadata.cache,
            engine.caches.session_catalogs.cache,
        )
        session.run("DETACH other")
        assert [cache.invalidate_if(lambda key: key.mount == mount) for cache in caches] == [0, 0, 0]


# --- a server that says nothing -------------------------------------------------------------------------------------


@pytest.fixture
def silence() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_attach_of_a_silent_server_ends_with_the_time_of_the_statement(silence: str) -> None:
    with an_engine() as engine:
        session = engine.session()
        session.run("SET statement_timeout = '200ms'")
        with pytest.raises(QueryTimeout):
            session.run(f"ATTACH '{silence}' AS c (TYPE iceberg_rest)")
        assert rows(session, "SHOW CATALOGS") == [("lake",), ("system",)]


def test_attach_of_a_silent_server_can_be_canceled(silence: str) -> None:
    with an_engine() as engine:
        session = engine.session()
        canceled = in_thread(lambda: (wait_until(lambda: list(session.running), "no statement runs"), session.cancel()))
        with pytest.raises(QueryCanceled):
            session.run(f"ATTACH '{silence}' AS c (TYPE iceberg_rest)")
        canceled()


# --- secrets --------------------------------------------------------------------------------------------------------


def test_a_secret_that_is_wiped_while_it_is_read_gives_its_value_or_an_error() -> None:
    value = "x" * 100_000
    for _ in range(50):
        secret = Secret("s", "bearer", "ada", {"TOKEN": value})
        seen: set[str] = set()
        started = threading.Event()

        def read(secret: Secret = secret, seen: set[str] = seen, started: threading.Event = started) -> None:
            try:
                while True:
                    seen.add(secret["TOKEN"])
                    started.set()
            except SecretNotFound:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        assert started.wait(PATIENCE)
        secret.wipe()
        reader.join(PATIENCE)
        assert not reader.is_alive()
        assert seen == {value}


def test_nobody_has_no_name() -> None:
    """The secrets of a user without a name would be everybody's."""
    with an_engine() as engine, pytest.raises(InvalidArgument, match="needs the name of its user"):
        engine.session(Identity(""))


# --- the configuration ----------------------------------------------------------------------------------------------


def configured(directory: Path, text: str) -> Path:
    directory.mkdir(exist_ok=True)
    file = directory / "pinakes.toml"
    file.write_text(f'[engine]\ndata = ":memory:"\n{text}')
    return file


def test_paths_of_configured_catalogs_start_at_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_remote_engine = tmp_path / "elsewhere"
    on_remote_engine.mkdir()
    monkeypatch.chdir(on_remote_engine)
    file = configured(tmp_path / "conf", '[catalogs.f]\ntype = "files"\nlocation = "data"\n')
    (file.parent / "data").mkdir()
    (file.parent / "data" / "t.csv").write_text("a\n42\n")
    with open_engine(load_config(file)) as engine:
        assert rows(engine.session(), "SELECT * FROM f.t") == [(42,)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            '[secrets.s]\ntype = "bearer"\ntokn = "hunter2"\n',
            r"\[secrets.s\]: a secret of type bearer has no option TOKN",
        ),
        ('[catalogs.c]\ntype = "sqlite"\nlocation = "x"\nsecret = "s"\n', r"\[catalogs.c\]: secret 's' does not exist"),
        (
            '[catalogs.c]\ntype = "sqlite"\nlocation = "x"\nvisibility = "user"\n',
            r"\[catalogs.c\]: a configured catalog is visible to all users",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_section(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        open_engine(load_config(configured(tmp_path, text)))
