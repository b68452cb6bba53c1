"""Hosts that an attacker runs, or wants the server to reach: real sockets that record who connects and what is sent."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as adbc

from tests.flight.identities import asked, with_token
from tests.flight.serving import Serving

EVE, ANN = with_token("token-of-eve"), with_token("token-of-ann")
USERS = '[server]\nadministrators = ["ann"]\n[server.tokens]\neve = "token-of-eve"\nann = "token-of-ann"\n'


def refused(server: Serving, *statements: str, **login: object) -> str:
    """The error of the last of some statements of one session, which the others must get to."""
    with server.connect(**(login or EVE)) as connection, connection.cursor() as cursor:
        for statement in statements[:-1]:
            cursor.execute(statement)
        try:
            cursor.execute(statements[-1])
        except adbc.Error as error:
            return str(error)
    raise AssertionError(f"nothing refused {statements[-1]}")


def run(server: Serving, *statements: str, **login: object) -> list[tuple[Any, ...]]:
    return [asked(server, statement, **(login or EVE)) for statement in statements][-1]


class Catalog:
    """An empty Iceberg REST catalog at any path, which records the requests that it gets."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.requests: list[tuple[str, dict[str, str], str]] = []
        self.redirect: str | None = None
        catalog = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(errors="replace")
                catalog.requests.append((self.path, dict(self.headers), body))
                path, location = self.path.partition("?")[0], catalog.redirect
                if location is not None:
                    self.send_response(307)
                    self.send_header("Location", location + path)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                answer = {"namespaces": []} if path.endswith("/namespaces") else {"defaults": {}, "overrides": {}}
                if path.endswith("/tokens"):
                    answer = {"access_token": "fetched", "token_type": "bearer"}  # type: ignore[dict-item]
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((host, port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.port: int = self._server.server_address[1]
        self.uri = f"http://{host}:{self.port}"

    @property
    def sent(self) -> str:
        """All that was ever sent to it, in one text."""
        return json.dumps(self.requests)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def catalog(host: str = "127.0.0.1", port: int = 0) -> Iterator[Catalog]:
    running = Catalog(host, port)
    try:
        yield running
    finally:
        running.close()


class Listener:
    """A socket, also a Unix one, that counts who connects and hangs up."""

    def __init__(self, address: Path | tuple[str, int]) -> None:
        if isinstance(address, Path):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.bind(str(address))
            self._socket.listen()
        else:
            self._socket = socket.create_server(address)
        self.connections = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            client.close()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@contextmanager
def listener(address: Path | tuple[str, int] = ("127.0.0.1", 0)) -> Iterator[Listener]:
    running = Listener(address)
    try:
        yield running
    finally:
        running.close()
