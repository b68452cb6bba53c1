"""MySQL and PostgreSQL servers that a user attaches get neither a file, nor the password in clear, and their malformed
answers are errors of the catalog.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, PermissionDenied, PinakesError
from pinakes.engine.session import Session
from tests.engine.support import do
from tests.security import rogue_databases as rogue
from tests.security.rogue import an_engine_of
from tests.security.rogue_databases import Peer, rogue_server


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine_of(tmp_path, served=False) as engine:
        yield engine.session()


def attach(session: Session, talk: rogue.Talk, scheme: str = "mysql") -> bytes:
    """All that a server was sent."""
    with rogue_server(talk) as server:
        try:
            do(session, f"ATTACH '{scheme}://u:hidden@127.0.0.1:{server.port}/d' AS r (TYPE jdbc)")
            do(session, "SHOW SCHEMAS FROM r")
        finally:
            sent = b"".join(server.received)
    return sent


@pytest.mark.parametrize("plugin", [b"mysql_clear_password\0", b"dialog\0\4Password: "])
def test_the_password_is_not_sent_in_clear(session: Session, plugin: bytes) -> None:
    received: list[bytes] = []

    def login(peer: Peer) -> None:
        peer.send(rogue.my_packet(b"\xfe" + plugin, 2))
        received.append(rogue.my_read(peer)[1])

    with pytest.raises(PermissionDenied, match="in clear"):
        attach(session, rogue.my_talk(lambda *_: False, login))
    assert not received


def test_no_file_is_sent(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "private.txt"
    file.write_text("all that is private")

    def answer(peer: Peer, sql: str) -> bool:
        peer.send(rogue.my_packet(b"\xfb" + str(file).encode(), 1))
        return True

    with rogue_server(rogue.my_talk(answer)) as server:
        with pytest.raises(CatalogUnavailable):
            do(session, f"ATTACH 'mysql://u@127.0.0.1:{server.port}/d' AS r (TYPE jdbc)")
        assert b"private" not in b"".join(server.received)


def _my(packet: bytes) -> rogue.Talk:
    def answer(peer: Peer, sql: str) -> bool:
        if sql.startswith("SHOW"):
            peer.send(packet)
            return True
        return False

    return rogue.my_talk(answer)


def _pg(*messages: bytes) -> rogue.Talk:
    def answer(peer: Peer, sql: str) -> bool:
        if "catalog_name" in sql:
            peer.send(*messages)
            return True
        return False

    return rogue.pg_talk(answer)


JSON, LIST, POINT, NUMBER = 114, 1009, 600, 23


@pytest.mark.parametrize(
    ("scheme", "talk"),
    [
        ("mysql", _my(rogue.my_packet(b"\xfc", 1))),
        ("mysql", _my(rogue.my_packet(b"\xfe" + b"\xff" * 8, 1))),
        ("mysql", _my(rogue.my_packet(b"\1", 1) + rogue.my_packet(b"\xfd\1", 2))),
        ("mysql", _my(rogue.my_packet(b"\1", 1) + rogue.my_packet(rogue.my_column("a", charset=9999), 2))),
        ("mysql", _my(rogue.my_packet(b"\1", 77))),
        ("mysql", _my(b"".join(rogue.my_rows(["a"], [])))),
        ("mysql", lambda peer: peer.send(rogue.my_packet(b"\x0a", 0))),
        ("mysql", lambda peer: peer.send(rogue.my_packet(b"", 0))),
        ("postgresql", _pg(rogue.pg_columns("a", type=JSON), rogue.pg_row(b'{"a": 1}'), rogue.pg_done(), rogue.READY)),
        ("postgresql", _pg(rogue.pg_columns("a", type=JSON), rogue.pg_row(b"[" * 9999), rogue.pg_done(), rogue.READY)),
        ("postgresql", _pg(rogue.pg_columns("a", type=LIST), rogue.pg_row(b"{a,b}"), rogue.pg_done(), rogue.READY)),
        ("postgresql", _pg(rogue.pg_columns("a", type=NUMBER), rogue.pg_row(b"x"), rogue.pg_done(), rogue.READY)),
        ("postgresql", _pg(rogue.pg_columns("a"), rogue.pg_row(b"\xff\xfe"), rogue.pg_done(), rogue.READY)),
        ("postgresql", _pg(rogue.pg_columns("a", "b", "c"), rogue.pg_row(b"a"), rogue.pg_done(), rogue.READY)),
        ("postgresql", _pg(rogue.pg_columns("a"), b"D" + struct.pack("!ih", -5, 1))),
        ("postgresql", _pg(b"G" + struct.pack("!ibh", 7, 0, 0))),
        ("postgresql", _pg(rogue.pg(b"H", struct.pack("!bh", 0, 0)), rogue.pg(b"d", b"x"), rogue.pg(b"c"))),
    ],
)
def test_malformed_answers_are_errors_of_the_catalog(session: Session, scheme: str, talk: rogue.Talk) -> None:
    with pytest.raises(PinakesError) as raised:
        attach(session, talk, scheme)
    assert isinstance(raised.value, CatalogUnavailable | DataCorrupt), repr(raised.value)
