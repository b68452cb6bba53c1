"""Persistent secrets are encrypted on disk; keys can be changed, and a lost key loses no more than its secrets."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.core.errors import InvalidArgument, NotSupportedError, SecretExists, SecretNotFound, SecretUnreadable
from pinakes.core.identity import Identity
from pinakes.core.names import Part
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session

PLANTED = "hunter2zQ9"
CREATE = f"CREATE PERSISTENT SECRET s (TYPE bearer, TOKEN '{PLANTED}', SCOPE 'https://catalog.example.com')"
EVE, ANN = Identity("eve"), Identity("ann", roles=frozenset({"admin"}))


def key() -> str:
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


@contextmanager
def engine_at(data: Path, **more: str) -> Iterator[Engine]:
    config = parse_config(f"[engine]\ndata = '{data}'", data.parent)
    with open_engine(replace(config, engine=replace(config.engine, **more))) as engine:  # type: ignore[arg-type]
        yield engine


def run(session: Session, sql: str) -> None:
    session.run(sql).close()


def token(engine: Engine, identity: Identity = EVE, name: str = "s") -> str:
    return engine.secrets.get(engine.secrets.require(Part(name, quoted=True), identity))["TOKEN"]


@pytest.fixture(autouse=True)
def _no_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINAKES_SECRET_KEY", raising=False)


def test_a_persistent_secret_is_there_after_a_start_and_nowhere_in_clear(tmp_path: Path) -> None:
    data = tmp_path / "lake"
    with engine_at(data) as engine:
        run(engine.session(EVE), CREATE)
        run(engine.session(ANN), f"CREATE SHARED PERSISTENT SECRET all_of_us (TYPE bearer, TOKEN 'x{PLANTED}')")
        run(engine.session(EVE), "CREATE SECRET gone (TYPE bearer, TOKEN 'x')")
    for file in data.rglob("*"):
        assert not file.is_file() or PLANTED.encode() not in file.read_bytes()
    for name in ("secrets.json", "secret.key"):
        assert stat.S_IMODE((data / name).stat().st_mode) == 0o600
    with engine_at(data) as engine:
        secret = engine.secrets.get(engine.secrets.require(Part("s", quoted=True), EVE))
        assert (secret["TOKEN"], secret.scope, secret.owner) == (PLANTED, "https://catalog.example.com", "eve")
        assert token(engine, Identity("bob"), "all_of_us") == f"x{PLANTED}"
        for identity, name in ((Identity("bob"), "s"), (ANN, "s"), (EVE, "gone")):
            with pytest.raises(SecretNotFound):
                token(engine, identity, name)


def test_dropping_and_replacing(tmp_path: Path) -> None:
    with engine_at(tmp_path / "lake") as engine:
        session = engine.session(EVE)
        run(session, CREATE)
        with pytest.raises(SecretExists):
            run(session, CREATE)
        run(session, "CREATE OR REPLACE PERSISTENT SECRET s (TYPE bearer, TOKEN 'second')")
        run(session, "CREATE PERSISTENT SECRET dropped (TYPE bearer, TOKEN 'x')")
        run(session, "CREATE PERSISTENT SECRET replaced (TYPE bearer, TOKEN 'x')")
        run(session, "DROP SECRET dropped")
        run(session, "CREATE OR REPLACE SECRET replaced (TYPE bearer, TOKEN 'x')")
    with engine_at(tmp_path / "lake") as engine:
        assert token(engine) == "second"
        assert [secret.name for secret in engine.secrets.visible(EVE)] == ["s"]


def test_a_key_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_SECRET_KEY", key())
    with engine_at(tmp_path / "lake") as engine:
        run(engine.session(EVE), CREATE)
    assert not (tmp_path / "lake" / "secret.key").exists()
    with engine_at(tmp_path / "lake") as engine:
        assert token(engine) == PLANTED


def test_keys_are_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = key(), key()
    for keys in (old, f"{new}, {old}", new):
        monkeypatch.setenv("PINAKES_SECRET_KEY", keys)
        with engine_at(tmp_path / "lake") as engine:
            if keys == old:
                run(engine.session(EVE), CREATE)
            assert token(engine) == PLANTED


def test_without_its_key_a_secret_is_an_error_and_all_else_works(tmp_path: Path) -> None:
    data, on_remote_engine = tmp_path / "lake", tmp_path / "keys" / "key"
    with engine_at(data, secret_key_file=str(on_remote_engine)) as engine:
        run(engine.session(EVE), CREATE)
        run(engine.session(EVE), "CREATE PERSISTENT SECRET t (TYPE bearer, TOKEN 'x')")
    lost = on_remote_engine.read_bytes()
    on_remote_engine.unlink()
    with engine_at(data, secret_key_file=str(on_remote_engine)) as engine:
        session = engine.session(EVE)
        assert session.run("SELECT 1 AS a").read_all().to_pylist() == [{"a": 1}]
        attach = "ATTACH 'https://catalog.example.com' AS r (TYPE iceberg_rest, SECRET s, VERIFY false)"
        with pytest.raises(SecretUnreadable, match=r"secret 's' can't be decrypted: .* DROP SECRET s"):
            run(session, attach)
        with pytest.raises(SecretExists):
            run(session, CREATE)
        run(session, "DROP SECRET t")
        run(session, "CREATE PERSISTENT SECRET other (TYPE bearer, TOKEN 'new')")  # under a new key
    on_remote_engine.write_bytes(on_remote_engine.read_bytes() + lost)
    with engine_at(data, secret_key_file=str(on_remote_engine)) as engine:
        assert (token(engine), token(engine, name="other")) == (PLANTED, "new")
        with pytest.raises(SecretNotFound):
            token(engine, name="t")


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "lake"
    with engine_at(data) as engine:
        run(engine.session(EVE), CREATE)
    (data / "secret.key").chmod(0o640)
    with engine_at(data) as engine, pytest.raises(SecretUnreadable, match="chmod 600"):
        token(engine)


@pytest.mark.parametrize("field", ["owner", "name", "shared", "sealed"])
def test_a_changed_entry_is_not_believed(tmp_path: Path, field: str) -> None:
    """Whoever can write the file can't give a secret to another user, or another's value to it."""
    file = tmp_path / "lake" / "secrets.json"
    with engine_at(tmp_path / "lake") as engine:
        run(engine.session(EVE), CREATE)
        run(engine.session(EVE), "CREATE PERSISTENT SECRET t (TYPE bearer, TOKEN 'x')")
    document = json.loads(file.read_text())
    first, second = document["secrets"]
    first[field] = {"owner": "bob", "name": "u", "shared": True, "sealed": second["sealed"]}[field]
    file.write_text(json.dumps(document))
    identity = Identity("bob") if field in ("owner", "shared") else EVE
    with engine_at(tmp_path / "lake") as engine, pytest.raises(SecretUnreadable):
        token(engine, identity, "u" if field == "name" else "s")


@pytest.mark.parametrize("text", ["", "{", '{"version": 2, "secrets": []}', '{"version": 1, "secrets": [1]}'])
def test_a_damaged_file_does_not_keep_the_engine_from_starting(tmp_path: Path, text: str) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "secrets.json").write_text(text)
    with engine_at(tmp_path / "lake") as engine:
        assert engine.secrets.visible(EVE) == []
        with pytest.raises(Exception, match="can't be read"):
            run(engine.session(EVE), CREATE)
    assert (tmp_path / "lake" / "secrets.json").read_text() == text


def test_what_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINAKES_SECRET_KEY", "short")
    with engine_at(tmp_path / "lake") as engine, pytest.raises(SecretUnreadable, match="32 random bytes") as error:
        run(engine.session(EVE), CREATE)
    assert "short" not in str(error.value)


def test_a_user_has_a_limited_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinakes.core.secret_file.MOST", 2)
    with engine_at(tmp_path / "lake") as engine:
        for name in ("a", "b"):
            run(engine.session(EVE), f"CREATE PERSISTENT SECRET {name} (TYPE bearer, TOKEN 'x')")
        run(engine.session(EVE), "CREATE OR REPLACE PERSISTENT SECRET a (TYPE bearer, TOKEN 'y')")
        with pytest.raises(InvalidArgument, match="at most 2 persistent secrets"):
            run(engine.session(EVE), "CREATE PERSISTENT SECRET c (TYPE bearer, TOKEN 'x')")


def test_data_in_memory_keeps_no_secret() -> None:
    config = parse_config("[engine]\ndata = ':memory:'", Path.cwd())
    with open_engine(config) as engine, pytest.raises(NotSupportedError, match="leave out PERSISTENT"):
        run(engine.session(EVE), CREATE)
