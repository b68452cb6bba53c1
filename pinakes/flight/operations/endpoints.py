"""`/health`, `/ready` and `/metrics` on a port of their own.

    /health     200 while the process answers at all
    /ready      200 while it takes statements; 503 while it starts or stops, and when the engine does not answer
    /metrics    the figures of `metrics.py`

Whoever can reach the port can read them, so it is loopback unless the configuration says otherwise; there is nothing in
them that a user wrote. What is no request is hung up on, and at most so many are answered at a time.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from pinakes.core.errors import ConfigError
from pinakes.core.serving import MetricsConfig
from pinakes.flight.operations.metrics import CONTENT_TYPE

PATIENCE = 5.0
"""Seconds that a client may take to say what it wants."""
AT_A_TIME = 16


class Page(NamedTuple):
    status: int
    body: bytes
    type: str = "text/plain; charset=utf-8"


class Endpoints:
    """Listens from the moment it is made. `ready` says why it is not ready, or None."""

    def __init__(self, config: MetricsConfig, ready: Callable[[], str | None], metrics: Callable[[], bytes]) -> None:
        self._ready, self._metrics = ready, metrics
        try:
            self._server = _Server((config.host, config.port), _handler(self.page))
        except OSError as error:
            raise ConfigError(
                f"can't tell health and metrics on {config.host}:{config.port}: {error.strerror or error}. Choose "
                f"another port in [server.metrics], or set enabled = false there."
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="pinakes-metrics", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{str(host) if ':' not in str(host) else f'[{host!s}]'}:{port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def page(self, path: str) -> Page:
        match path.partition("?")[0]:
            case "/health":
                return Page(200, b"ok\n")
            case "/ready":
                why = self._ready()
                return Page(200, b"ready\n") if why is None else Page(503, f"{why}\n".encode())
            case "/metrics":
                return Page(200, self._metrics(), CONTENT_TYPE)
            case _:
                return Page(404, b"there are: /health, /ready, /metrics\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._room = threading.BoundedSemaphore(AT_A_TIME)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """One more than there is room for is hung up on: it must not hold a thread."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever called has gone, or never spoke HTTP: nobody is to be told."""


def _handler(page: Callable[[str], Page]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE
        server_version, sys_version = "pinakes", ""

        def do_GET(self) -> None:
            self.answer(page(self.path))

        def do_HEAD(self) -> None:
            self.answer(page(self.path)._replace(body=b""))

        def answer(self, found: Page) -> None:
            self.send_response(found.status)
            self.send_header("Content-Type", found.type)
            self.send_header("Content-Length", str(len(found.body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, *_: object) -> None:
            """A probe comes every few seconds."""

    return Handler
