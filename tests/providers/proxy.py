"""A proxy in front of a real server: it writes down every request, and can answer itself or change what is answered."""

from __future__ import annotations

import http.client
import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

KEPT = ("content-type", "content-encoding", "retry-after", "content-range", "last-modified", "etag")


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def authorization(self) -> str | None:
        return self.headers.get("authorization")


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int, content: Any, **headers: str) -> Answer:
        kind = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        return cls(status, json.dumps(content).encode(), kind)

    @classmethod
    def error(cls, status: int, message: str, **headers: str) -> Answer:
        return cls.of(status, {"error": {"message": message, "type": "Error", "code": status}}, **headers)


class Proxy:
    """`before` may answer in place of the server, `after` may change what it answered."""

    def __init__(self, target: str) -> None:
        self.asked: list[Asked] = []
        self.before: Callable[[Asked], Answer | None] = lambda _: None
        self.after: Callable[[Asked, Answer], Answer] = lambda _, answer: answer
        self._address = urlsplit(target)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._address.path}"

    def requests(self) -> list[str]:
        return [f"{asked.method} {asked.path}" for asked in self.asked]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        own = self.before(asked)
        return own if own is not None else self.after(asked, self._forward(asked))

    def _forward(self, asked: Asked) -> Answer:
        connection = http.client.HTTPConnection(self._address.netloc, timeout=60)
        try:
            self._send(connection, asked)
            response = connection.getresponse()
            kept = {k: v for k, v in response.getheaders() if k.lower() in KEPT}
            if asked.method == "HEAD" and (length := response.getheader("Content-Length")) is not None:
                kept["Content-Length"] = length
            return Answer(response.status, response.read(), kept)
        finally:
            connection.close()

    def _send(self, connection: http.client.HTTPConnection, asked: Asked) -> None:
        if "transfer-encoding" not in asked.headers:
            connection.request(asked.method, asked.path, asked.body or None, asked.headers)
            return
        connection.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
        for key, value in asked.headers.items():
            connection.putheader(key, value)
        connection.endheaders()
        connection.send(asked.body)  # in the pieces that it came in

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                dropped = ("connection", "transfer-encoding")
                headers = {k.lower(): v for k, v in self.headers.items() if k.lower() not in dropped}
                answer = proxy.answer(Asked(self.command, self.path, headers, self.sent()))
                if answer.status == 0:  # hang up without a word
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(answer.status)
                for key, value in answer.headers.items():
                    self.send_header(key, value)
                if self.command != "HEAD" or "content-length" not in map(str.lower, answer.headers):
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)

            def sent(self) -> bytes:
                """The body of the request, which may come in pieces."""
                if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                pieces = []
                while length := int(self.rfile.readline(), 16):
                    pieces.append(self.rfile.read(length))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(pieces)

            do_POST = do_HEAD = do_DELETE = do_PUT = do_GET

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        return Handler


@contextmanager
def proxied(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def losing_answers(target: str, marker: bytes) -> Iterator[str]:
    """The address of a forwarder of bytes: what holds `marker` goes on to the server, and its answer goes nowhere."""
    address = urlsplit(target)

    class Forwarder(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((str(address.hostname), int(address.port or 0))) as server:
                threading.Thread(target=self.bring_back, args=(server,), daemon=True).start()
                while piece := self.request.recv(1 << 20):
                    if marker in piece:
                        self.lost = True
                    server.sendall(piece)

        lost = False

        def bring_back(self, server: socket.socket) -> None:
            with suppress(OSError):
                while piece := server.recv(1 << 20):
                    if self.lost:
                        self.request.shutdown(socket.SHUT_RDWR)
                        return
                    self.request.sendall(piece)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Forwarder) as listening:
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"{address.scheme}://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield listening.getsockname()[1]


def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
