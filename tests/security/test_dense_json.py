"""A JSON text of a catalog that is small, or unpacked from little, and becomes many objects and errors in memory."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, DataCorrupt, PinakesError
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do
from tests.security.rogue import Rogue, an_engine_of, loaded, rogue_catalog, table_at

MANY = 3_000_000


def packed(start: str, repeated: str, end: str, times: int = MANY) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    parts = [packer.compress(start.encode())]
    parts += [packer.compress(repeated.encode() * 1000) for _ in range(times // 1000)]
    return b"".join([*parts, packer.compress(end.encode()), packer.flush()])


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with an_engine_of(tmp_path / "engine", served=False) as engine:
        yield engine.session()


@pytest.fixture
def rogue(tmp_path: Path) -> Iterator[Rogue]:
    with rogue_catalog(t=loaded(table_at(tmp_path / "table"))) as found:
        yield found


@pytest.mark.parametrize(
    ("end", "body", "sql"),
    [
        ("/namespaces", packed('{"namespaces":[["s"]', ",[]", "]}"), "SHOW SCHEMAS FROM r"),
        ("/tables", packed('{"identifiers":[{}', ",{}", "]}"), "SHOW TABLES FROM r.s"),
        ("/tables", packed('{"identifiers":[1', ",1", "]}"), "SHOW TABLES FROM r.s"),
        ("/config", packed('{"defaults":{"a":"b"', ',"a":"b"', "}}"), "SHOW SCHEMAS FROM r"),
    ],
)
def test_answers(session: Session, rogue: Rogue, end: str, body: bytes, sql: str) -> None:
    rogue.packed[end] = body
    do(session, f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest, VERIFY false)")
    with pytest.raises(CatalogUnavailable, match="JSON values"):
        do(session, sql)


def test_metadata_in_an_answer(session: Session, rogue: Rogue) -> None:
    table = rogue.tables["t"]
    table["metadata"]["snapshots"] = "here"
    start, _, rest = json.dumps(table).partition('"here"')
    rogue.packed["/tables/t"] = packed(f"{start}[{{}}", ",{}", f"]{rest}")
    do(session, f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest)")
    with pytest.raises(CatalogUnavailable, match="JSON values"):
        do(session, "SELECT * FROM r.s.t")


def test_a_metadata_file(tmp_path: Path) -> None:
    file = table_at(tmp_path)
    metadata = json.loads(file.read_text())
    metadata["snapshots"] = "here"
    start, _, rest = json.dumps(metadata).partition('"here"')
    file.write_text(f"{start}[{{}}{',{}' * MANY}]{rest}")
    with an_engine(tmp_path) as engine, pytest.raises(DataCorrupt, match="JSON values"):
        do(engine.session(), "SELECT * FROM t")


def test_an_error_that_is_deeply_nested(session: Session) -> None:
    with rogue_catalog() as rogue:
        rogue.answer = lambda path: (503, json.loads("[" * 900 + "]" * 900))  # type: ignore[method-assign]
        with pytest.raises(PinakesError) as raised:
            do(session, f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest)")
    assert isinstance(raised.value, CatalogUnavailable)


def test_many_faults_make_a_short_error(session: Session, rogue: Rogue) -> None:
    rogue.tables["t"]["metadata"]["snapshots"] = [{}] * 20_000
    do(session, f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest)")
    with pytest.raises(PinakesError) as raised:
        do(session, "SELECT * FROM r.s.t")
    assert len(str(raised.value)) < 5000
