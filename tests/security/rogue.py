"""What the attacks share: an engine with a server's rules and a user without privileges, and a hostile REST catalog."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pinakes.api.build import open_engine
from pinakes.config.model import CatalogConfig, Config, EngineConfig
from pinakes.core.identity import Identity
from pinakes.engine.catalogs.authorization.policy import EMBEDDED, Policy
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do

EVE = Identity("eve")
ADMIN = Identity("ann", roles=frozenset({"admin"}))

planted: list[tuple[object, ...]] = []
"""What was given to `Planted`: empty unless a name that came from data was imported and called."""


class Planted:
    """A class that an attacker names in a property."""

    def __init__(self, *arguments: object) -> None:
        planted.append(arguments)


NAME = f"{__name__}.Planted"


@contextmanager
def an_engine_of(
    data: Path,
    *,
    served: bool = True,
    may: tuple[str, ...] = ("attach",),
    allowed: tuple[str, ...] | None = None,
    **catalogs: CatalogConfig,
) -> Iterator[Engine]:
    """An engine as `pinakes serve` makes it, or an embedded one."""
    config = Config(engine=replace(EngineConfig(), data=str(data), allowed_paths=allowed), catalogs=catalogs)
    with open_engine(config, Policy(may) if served else EMBEDDED) as engine:
        yield engine


@dataclass
class Rogue:
    """A REST catalog whose every answer is chosen by a test; it has one namespace, `s`."""

    uri: str = ""
    config: dict[str, Any] = field(default_factory=lambda: {"defaults": {}, "overrides": {}})
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)
    """Bodies that are sent as they are, with `Content-Encoding: gzip`, by the end of the path."""
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, Any]:
        *_, last = path.split("/")
        match path.removeprefix("/v1/").split("/"):
            case ["config"]:
                return 200, self.config
            case ["namespaces"]:
                return 200, {"namespaces": [["s"]]}
            case ["namespaces", "s"]:
                return 200, {"namespace": ["s"], "properties": {}}
            case ["namespaces", "s", "tables"]:
                listed = [{"namespace": ["s"], "name": name} for name in self.tables]
                return 200, {"identifiers": listed}
            case ["namespaces", "s", "tables", _] if last in self.tables:
                return 200, self.tables[last]
        error = {"message": f"no {path}", "type": "NoSuchTableException", "code": 404}
        return 404, {"error": error}

    def as_catalog(self, name: str = "r") -> CatalogConfig:
        return CatalogConfig(name, "iceberg_rest", self.uri)


@contextmanager
def rogue_catalog(**tables: dict[str, Any]) -> Iterator[Rogue]:
    rogue = Rogue(tables=dict(tables))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            rogue.asked.append(self.path)
            packed = next((body for end, body in rogue.packed.items() if path.endswith(end)), None)
            status, found = (200, None) if packed is not None else rogue.answer(path)
            body = packed if packed is not None else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if packed is not None:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                return  # the client hung up, as it should

        def do_HEAD(self) -> None:
            self.send_response(rogue.answer(self.path.partition("?")[0])[0])
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on the screen."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        rogue.uri = f"http://127.0.0.1:{server.server_port}"
        yield rogue
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def table_at(directory: Path, sql: str = "CREATE TABLE t AS SELECT 7 AS a") -> Path:
    """The metadata file of a table that is made in a lake of its own."""
    with an_engine(directory) as engine:
        do(engine.session(), sql)
    return max(directory.rglob("*.metadata.json"), key=lambda path: path.stat().st_mtime_ns)


def loaded(metadata_file: Path, **others: Any) -> dict[str, Any]:
    """What a REST catalog answers that has this table."""
    metadata = json.loads(metadata_file.read_text())
    return {"metadata-location": str(metadata_file), "metadata": metadata, "config": {}, **others}


def bomb(megabytes: int) -> bytes:
    """A JSON text of so many megabytes, packed; it is never there as a whole."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    parts = [packer.compress(b'{"defaults": {}, "overrides": {"filler": "')]
    parts += [packer.compress(b"a" * (1 << 20)) for _ in range(megabytes)]
    return b"".join([*parts, packer.compress(b'"}}'), packer.flush()])


def files_below(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def with_properties(metadata_file: Path, properties: Mapping[str, str], **fields: Any) -> None:
    """Change a table's metadata as another writer of it could."""
    metadata = json.loads(metadata_file.read_text())
    metadata["properties"] = {**metadata.get("properties", {}), **properties}
    metadata_file.write_text(json.dumps({**metadata, **fields}))


def session_of(engine: Engine, identity: Identity = EVE) -> Session:
    return engine.session(identity)
