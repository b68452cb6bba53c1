"""Finding 12: the answers of a remote catalog are bounded, and its numbers are checked before they are used."""

from __future__ import annotations

import gzip
import resource
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, PinakesError
from tests.engine.support import do, rows
from tests.security.recording import catalog
from tests.security.rogue import an_engine_of, bomb, loaded, rogue_catalog, session_of, table_at


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/config", "/tables/t", "/tables"])
def test_an_answer_that_unpacks_to_too_much_is_refused(path: str, tmp_path: Path) -> None:
    packed = bomb(300)
    made = table_at(tmp_path / "theirs")
    with rogue_catalog(t=loaded(made)) as rogue, an_engine_of(tmp_path / "lake", r=rogue.as_catalog()) as engine:
        rogue.packed[path] = packed
        before = peak()
        with pytest.raises(CatalogUnavailable, match="answer of more than"):
            do(session_of(engine), "SHOW TABLES FROM r.s" if path == "/tables" else "SELECT * FROM r.s.t")
        assert peak() - before < 400 << 20


@pytest.mark.slow
def test_a_metadata_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with an_engine_of(tmp_path / "lake", served=False) as engine:
        session = session_of(engine)
        do(session, f"ATTACH '{tmp_path / 'h'}' AS h (TYPE hadoop, CREATE true)")
        do(session, "CREATE SCHEMA h.s")
        do(session, "CREATE TABLE h.s.t (a int)")
        (old,) = (tmp_path / "h").rglob("v1.metadata.json")
        old.unlink()
        old.with_name("v1.gz.metadata.json").write_bytes(bomb(300))
        before = peak()
        with pytest.raises(PinakesError, match="more than"):
            do(session, "SELECT * FROM h.s.t")
        assert peak() - before < 400 << 20


def test_packed_answers_are_still_understood(tmp_path: Path) -> None:
    made = table_at(tmp_path / "theirs")
    here = (str(tmp_path / "theirs"),)
    with rogue_catalog(t=loaded(made)) as rogue:
        rogue.packed["/config"] = gzip.compress(b'{"defaults": {}, "overrides": {}}')
        with an_engine_of(tmp_path / "lake", allowed=here, r=rogue.as_catalog()) as engine:
            assert rows(session_of(engine), "SELECT a FROM r.s.t") == [(7,)]


def test_pages_without_end_are_refused(tmp_path: Path) -> None:
    with rogue_catalog() as rogue, an_engine_of(tmp_path / "lake", r=rogue.as_catalog()) as engine:
        rogue.packed["/namespaces"] = gzip.compress(b'{"namespaces": [["s"]], "next-page-token": "again"}')
        rogue.packed["/tables"] = gzip.compress(b'{"identifiers": [], "next-page-token": "again"}')
        for sql in ("SHOW SCHEMAS FROM r", "SHOW TABLES FROM r.s"):
            with pytest.raises(CatalogUnavailable, match="page"):
                do(session_of(engine), sql)
        assert len(rogue.asked) < 50


@pytest.mark.parametrize(
    "config",
    [
        {"s3.session-token-expires-at-ms": "²"},
        {"s3.session-token-expires-at-ms": "9" * 5000},
        {"s3.connect-timeout": "nan", "s3.request-timeout": "1e999"},
        {"s3.connect-timeout": "a"},
        {"gcs.oauth2.token-expires-at": "9" * 30},
        {"buffer-size": "99999999999999"},
    ],
)
def test_numbers_of_a_server_are_looked_at(config: dict[str, str], tmp_path: Path) -> None:
    made = table_at(tmp_path / "theirs")
    here = (str(tmp_path / "theirs"),)
    with (
        rogue_catalog(t=loaded(made, config=config)) as rogue,
        an_engine_of(tmp_path / "lake", allowed=here, r=rogue.as_catalog()) as engine,
    ):
        assert rows(session_of(engine), "SELECT a FROM r.s.t") == [(7,)]


def test_the_answer_of_a_worker_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from pinakes.worker.client import http
    from pinakes.worker.exceptions import ProtocolError

    monkeypatch.setattr(http, "LARGEST_ANSWER", 5)
    with catalog() as other:
        connection = http.HttpConnection(other.uri)
        with pytest.raises(ProtocolError, match="an answer of more than"):
            connection.post("x", b"", 10.0, None)
        connection.close()
