"""Requests over HTTP: POST {prefix}/{protocol}/{method}, and …/init and …/exchange for streams. {prefix}/health, which
needs no authentication, reports the capabilities of the worker in its headers.

An invalid request gets a status of 4xx, with a JSON error or an Arrow error stream; an exception of the worker's own
code is sent with status 200.
"""

from __future__ import annotations

import argparse
import io
import ipaddress
import json
import logging
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinakes.worker.exceptions import ProtocolError
from pinakes.worker.serving.authentication import Authenticate, BearerTokens
from pinakes.worker.serving.dispatch import Caller, Dispatcher
from pinakes.worker.serving.http_bodies import CODINGS, LARGEST, Refused, budget, packed, unpacked
from pinakes.worker.serving.http_streams import Streams
from pinakes.worker.serving.pipe import answered, note
from pinakes.worker.serving.seals import Sealed, Seals
from pinakes.worker.wire import protocol
from pinakes.worker.wire.messages import error_bytes, next_of, opened, read_request

if TYPE_CHECKING:
    from pinakes.worker.worker import Worker

LOGGER = logging.getLogger("pinakes.worker")
_SLOWEST = 60.0
_CAPABILITIES = {
    "VGI-Protocol-Version": protocol.VERSION,
    "VGI-Max-Request-Bytes": str(LARGEST),
    "VGI-Supported-Encodings": ", ".join(CODINGS),
    "VGI-Externalization-Enabled": "false",
    f"{protocol.BUDGET_HEADER}-Support": "true",
}
"""Sent with every response."""


class WorkerServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self,
        address: tuple[str, int],
        dispatcher: Dispatcher,
        *,
        prefix: str = "",
        authenticate: Authenticate | None = None,
        seals: Seals | None = None,
    ) -> None:
        if authenticate is None and not ipaddress.ip_address(address[0]).is_loopback:
            raise ValueError(f"to serve on {address[0]}, give --token-file or set authenticate: anybody could call")
        super().__init__(address, _Handler)
        self.dispatcher = dispatcher
        self.prefix = f"/{prefix.strip('/')}" if prefix.strip("/") else ""
        self.authenticate = authenticate
        self.seals = seals or Sealed()
        self.streams = Streams()

    @property
    def address(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}{self.prefix}"


def serve_http(worker: Worker, arguments: argparse.Namespace) -> None:
    tokens = BearerTokens.from_file(arguments.token_file) if arguments.token_file else None
    key = Path(arguments.seal_key_file).read_bytes() if arguments.seal_key_file else None
    server = WorkerServer(
        (arguments.host, arguments.port),
        worker.dispatcher(),
        prefix=arguments.prefix,
        authenticate=tokens or type(worker).authenticate,
        seals=Sealed(key),
    )
    if arguments.port_file:
        Path(arguments.port_file).write_text(str(server.server_address[1]))
    sys.stdout.write(f"HTTP:{server.address}\n")
    sys.stdout.flush()
    with server:
        server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SLOWEST
    server: WorkerServer

    def do_GET(self) -> None:
        if self.path == f"{self.server.prefix}/health":
            self._send(200, b"{}", "application/json")
        else:
            self._refuse(404, "there is only /health to GET")

    do_HEAD = do_OPTIONS = do_GET

    def do_POST(self) -> None:
        try:
            body = self._body()
        except Refused as error:
            self.close_connection = True
            self._refuse(error.status, str(error))
            return
        name = self._caller()
        if name is None:
            self._refuse(401, "this worker does not know who calls: send a bearer token that it knows")
            return
        parts = self.path.removeprefix(self.server.prefix).strip("/").split("/")
        if not self.path.startswith(f"{self.server.prefix}/") or parts[0] != protocol.NAME or len(parts) not in (2, 3):
            self._refuse(404, f"there is only {self.server.prefix}/{protocol.NAME}/<method> to POST to")
            return
        caller = Caller(name, self.server.seals)
        self._answer(parts[1:], body, caller)

    def _answer(self, parts: list[str], body: bytes, caller: Caller) -> None:
        try:
            data = unpacked(body, self.headers.get("Content-Encoding", "").strip().lower())
            self._arrow(_answered(self.server, parts, data, caller, budget(self._lowered, protocol.BUDGET_HEADER)))
        except Refused as error:
            self._arrow(error_bytes(error), status=error.status, failed=True)
        except ProtocolError as error:
            status = 404 if error.kind == "method_not_implemented" else 400
            self._arrow(error_bytes(error), status=status, failed=True)
        except Exception as error:
            if not isinstance(error, PermissionError | ValueError):
                LOGGER.error("%s failed", "/".join(parts), exc_info=error)
            self._arrow(error_bytes(error), failed=True)

    @property
    def _lowered(self) -> dict[str, str]:
        return {key.lower(): value for key, value in self.headers.items()}

    def _caller(self) -> str | None:
        if self.server.authenticate is None:
            return ""
        try:
            return self.server.authenticate(self._lowered)
        except Exception as error:
            LOGGER.error("authenticate failed", exc_info=error)
            return None

    def _body(self) -> bytes:
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= LARGEST:
            raise Refused(411 if length < 0 else 413, "a request must say how long it is, and be no longer than 1 GiB")
        if self.headers.get_content_type() != protocol.CONTENT_TYPE:
            raise Refused(415, f"a request must be of the type {protocol.CONTENT_TYPE}")
        return self.rfile.read(length)

    def _arrow(self, data: bytes, *, status: int = 200, failed: bool = False) -> None:
        body, headers = packed(data, self._lowered)
        self._send(
            status, body, protocol.CONTENT_TYPE, {**headers, **({protocol.ERROR_HEADER: "true"} if failed else {})}
        )

    def _refuse(self, status: int, message: str) -> None:
        self._send(status, json.dumps({"error": message}).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        sent = {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}
        for key, value in {**sent, **_CAPABILITIES}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        LOGGER.debug(format, *args)


def _answered(server: WorkerServer, parts: list[str], body: bytes, caller: Caller, most: int | None) -> bytes:
    what = parts[1] if len(parts) == 2 else ""
    if what == "exchange":
        found = next_of(opened(io.BytesIO(body)))
        if found is None:
            raise ProtocolError("an exchange must have a batch")
        return server.streams.exchange(*found, caller, most)
    request = read_request(io.BytesIO(body))
    if request is None or request.method.name != parts[0]:
        raise ProtocolError(f"the request is not one of {parts[0]}")
    if request.method.answers != "stream":
        return answered(request, server.dispatcher, caller)
    try:
        header, running = server.dispatcher.stream(request, caller)
    except Exception as error:
        note(request, error)
        raise
    return header + server.streams.begun(running, caller)
