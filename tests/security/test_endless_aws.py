"""Services with the protocol of AWS that a user attaches: answers that never end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable
from pinakes.engine.session import Session
from tests.engine.support import do
from tests.security.rogue import an_engine_of
from tests.security.rogue_databases import Peer, rogue_server

OFFERED, TAKEN = 400 << 20, 200 << 20
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.1\r\nConnection: close\r\n\r\n"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine_of(tmp_path, served=False) as engine:
        found = engine.session()
        do(found, "CREATE SECRET k (TYPE aws, KEY_ID 'a', SECRET 'b', REGION 'eu-central-1')")
        yield found


@pytest.mark.parametrize("part", [b"x" * 65536, b"{}," * 20_000], ids=["long", "dense"])
@pytest.mark.parametrize("type", ["glue", "s3tables"])
def test_an_answer_has_a_largest_size(session: Session, type: str, part: bytes) -> None:
    def talk(peer: Peer) -> None:
        peer.socket.recv(1 << 16)
        peer.send(HEAD, b'{"DatabaseList": [')
        peer.send_all(itertools.repeat(part, OFFERED // len(part)))

    with rogue_server(talk) as server:
        place = f"http://127.0.0.1:{server.port}"
        location = place if type == "glue" else "arn:aws:s3tables:eu-central-1:1:bucket/b"
        with pytest.raises(CatalogUnavailable, match="32 MB"):
            do(session, f"ATTACH '{location}' AS r (TYPE {type}, SECRET k, ENDPOINT '{place}', TIMEOUT 30)")
        assert server.sent < TAKEN
