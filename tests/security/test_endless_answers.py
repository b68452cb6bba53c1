"""Databases and metastores that a user attaches must not take the memory or the threads of the server: answers that
never end, lengths that can't be right, and answers that come byte by byte.
"""

from __future__ import annotations

import itertools
import struct
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, QueryTimeout
from pinakes.engine.session import Session
from tests.engine.support import do
from tests.flight.serving import eventually
from tests.security import rogue_databases as rogue
from tests.security.rogue import an_engine_of
from tests.security.rogue_databases import Peer, RogueServer, rogue_server

OFFERED = 400 << 20
"""Bytes that the servers would send; far fewer are to be taken, of which the system holds some."""
TAKEN = 200 << 20


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """Of an embedded engine: its owner is the client of a hostile partner."""
    with an_engine_of(tmp_path, served=False) as engine:
        yield engine.session()


def run(session: Session, *statements: str) -> None:
    for statement in statements:
        do(session, statement)


def attach(kind: str, server: RogueServer, options: str = "") -> str:
    if kind == "hms":
        return f"ATTACH 'thrift://127.0.0.1:{server.port}' AS r (TYPE hms, WAREHOUSE 's3://b/w'{options})"
    return f"ATTACH '{kind}://u:pw@127.0.0.1:{server.port}/d' AS r (TYPE jdbc, WAREHOUSE 's3://b/w'{options})"


def pg_endless_rows(peer: Peer, sql: str) -> bool:
    if "catalog_name" not in sql:
        return False
    row = rogue.pg_row(b"x" * 1000)
    peer.send(rogue.pg_columns("a"))
    peer.send_all(itertools.repeat(row, OFFERED // len(row)))
    return True


def pg_large_value(peer: Peer, sql: str) -> bool:
    if "catalog_name" not in sql:
        return False
    peer.send(rogue.pg_columns("a"), b"D", struct.pack("!ihi", OFFERED + 10, 1, OFFERED))
    peer.send_all(itertools.repeat(b"x" * 4096, OFFERED // 4096))
    return True


LARGE_VALUE = rogue.pg_talk(pg_large_value)
"""libpq reads it for as long as more has arrived, which here is always."""


def pg_endless_parameters(peer: Peer) -> None:
    rogue.pg_start(peer)
    peer.send(rogue.OK)
    names = (rogue.pg(b"S", f"name{number}".encode() + b"\0" + b"v" * 1000 + b"\0") for number in itertools.count())
    peer.send_all(itertools.islice(names, OFFERED // 1000))


def my_endless_rows(peer: Peer, sql: str) -> bool:
    if not sql.startswith("SHOW"):
        return False
    peer.send_all(rogue.my_rows(["a"], itertools.repeat([b"x" * 1000], OFFERED // 1000)))
    return True


def my_endless_packet(peer: Peer, sql: str) -> bool:
    if not sql.startswith("SHOW"):
        return False
    heads = [rogue.my_packet(b"\1", 1), rogue.my_packet(rogue.my_column("a"), 2), rogue.my_packet(rogue.MY_EOF, 3)]
    peer.send(*heads)
    for number in range(OFFERED >> 24):
        peer.send(b"\xff\xff\xff", bytes([(4 + number) % 256]))
        peer.send_all(itertools.repeat(b"x" * 4095, 4097))  # 2 ** 24 - 1
    return True


@pytest.mark.parametrize(
    ("kind", "talk"),
    [
        ("postgresql", rogue.pg_talk(pg_endless_rows)),
        ("postgresql", LARGE_VALUE),
        ("postgresql", pg_endless_parameters),
        ("mysql", rogue.my_talk(my_endless_rows)),
        ("mysql", rogue.my_talk(my_endless_packet)),
        (
            "hms",
            rogue.hive_talk(lambda _: itertools.chain([rogue.hive_list(11, 2**31 - 1)], endless(b"\0\0\0\x04abcd"))),
        ),
        ("hms", rogue.hive_talk(lambda _: itertools.chain([b"\x0b\0\0\x7f\xff\xff\xff"], endless(b"x" * 4096)))),
        ("hms", rogue.hive_talk(lambda _: itertools.chain([rogue.hive_list(12, 2**31 - 1)], endless(b"\0" * 512)))),
        ("hms", rogue.hive_talk(lambda _: itertools.chain([rogue.hive_list(11, 900_000)], endless(large_text())))),
    ],
    ids="pg-rows pg-value pg-parameters my-rows my-packet hms-texts hms-text hms-structs hms-large-texts".split(),
)
def test_an_answer_has_a_largest_size(session: Session, kind: str, talk: rogue.Talk) -> None:
    with rogue_server(talk) as server:
        with pytest.raises(CatalogUnavailable) as raised:
            run(session, attach(kind, server), "SHOW SCHEMAS FROM r")
        assert any(word in str(raised.value) for word in ("MB", "kB", "exceeded")), raised.value
        assert server.sent < (TAKEN if talk is not LARGE_VALUE else OFFERED + 1)


def endless(part: bytes) -> Iterable[bytes]:
    return itertools.repeat(part, OFFERED // len(part))


def large_text() -> bytes:
    return struct.pack("!i", 1 << 16) + b"x" * (1 << 16)


def pg_slow(peer: Peer, sql: str) -> bool:
    if "information_schema" not in sql:
        return False
    peer.send(rogue.pg_columns("a", "b"))
    while True:
        peer.send(rogue.pg_row(b"x", b"y"))
        time.sleep(0.05)


def my_slow(peer: Peer, sql: str) -> bool:
    if not sql.startswith("SHOW"):
        return False
    for packet in rogue.my_rows(["a"], itertools.repeat([b"x"])):
        peer.send(packet)
        time.sleep(0.05)
    return True


def hive_slow(_: str) -> Iterable[bytes]:
    yield rogue.hive_list(rogue.HIVE_TEXT, 1000)


def silent(peer: Peer) -> None:
    peer.read(1 << 30)


SLOW = [
    ("postgresql", rogue.pg_talk(pg_slow)),
    ("postgresql", silent),
    ("mysql", rogue.my_talk(my_slow)),
    ("mysql", silent),
    ("hms", rogue.hive_talk(hive_slow)),
    ("hms", silent),
]
SLOW_IDS = "pg-slow pg-silent my-slow my-silent hms-slow hms-silent".split()


@pytest.mark.parametrize(("kind", "talk"), SLOW, ids=SLOW_IDS)
@pytest.mark.parametrize("verify", ["true", "false"])
def test_a_statement_that_is_stopped_leaves_no_thread(
    session: Session, kind: str, talk: rogue.Talk, verify: str
) -> None:
    before = set(threading.enumerate())
    option = "TIMEOUT 10000" if kind == "hms" else "STATEMENT_TIMEOUT 10000, CONNECT_TIMEOUT 10000"
    with rogue_server(talk) as server:
        own = set(threading.enumerate()) - before
        attached = attach(kind, server, f", VERIFY {verify}, {option}")
        with pytest.raises(QueryTimeout):
            run(session, "SET statement_timeout = '1s'", attached, "SHOW SCHEMAS FROM r")
        assert eventually(lambda: not _calls(set(threading.enumerate()) - before - own)), threading.enumerate()


def _calls(threads: set[threading.Thread]) -> list[str]:
    return [thread.name for thread in threads if thread.name.startswith(("open-", "pinakes-waited"))]


@pytest.mark.parametrize(
    ("kind", "talk"),
    [
        ("postgresql", rogue.pg_talk(pg_slow)),
        ("mysql", rogue.my_talk(my_slow)),
        ("hms", rogue.hive_talk(lambda _: (rogue.hive_list(11, 2) for _ in range(1)))),
    ],
    ids="pg my hms".split(),
)
def test_an_answer_has_an_end(session: Session, kind: str, talk: rogue.Talk) -> None:
    """Without any time-out of the statement."""
    option = "TIMEOUT 1" if kind == "hms" else "STATEMENT_TIMEOUT 1"
    with rogue_server(talk) as server, pytest.raises(CatalogUnavailable):
        run(session, attach(kind, server, f", VERIFY false, {option}"), "SHOW SCHEMAS FROM r")


def test_a_worker_that_answers_byte_by_byte(session: Session) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.apache.arrow.stream\r\nContent-Length: 1000000\r\n\r\n"

    def talk(peer: Peer) -> None:
        peer.socket.recv(1 << 16)
        peer.send(head)
        while True:
            peer.send(b"x")
            time.sleep(0.05)

    with rogue_server(talk) as server:
        do(session, f"ATTACH 'http://127.0.0.1:{server.port}' AS r (TYPE vgi, VERIFY false, TIMEOUT 1)")
        with pytest.raises(CatalogUnavailable, match="complete answer"):
            do(session, "SHOW SCHEMAS FROM r")
