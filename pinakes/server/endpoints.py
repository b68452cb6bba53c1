"""`/health`, `/ready` and `/metrics` on a port of their own.

    /health     200 while the process answers at all
    /ready      200 while it takes statements; 503 while it starts or stops, and when the engine does not answer
    /metrics    the figures of `metrics.py`

The port has no authentication, so it listens on loopback by default; the pages contain no text of users. One thread
serves all connections, so a slow client does not delay the others: each connection has a deadline of a few seconds and
a small buffer. When there are too many connections, the oldest is closed.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import NamedTuple

from pinakes.config.serving import MetricsConfig
from pinakes.core.errors import ConfigError
from pinakes.server.metrics import CONTENT_TYPE

PATIENCE = 5.0
"""Seconds that a connection has for request and response."""
MOST_CONNECTIONS = 256
MOST_BYTES = 8192
"""Maximum size of a request with its headers."""
BACKLOG = 1024


class Page(NamedTuple):
    status: int
    body: bytes
    type: str = "text/plain; charset=utf-8"

    def response(self, *, has_body: bool) -> bytes:
        head = (
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n"
            f"Content-Type: {self.type}\r\n"
            f"Content-Length: {len(self.body)}\r\n"
            "Cache-Control: no-store\r\n"
            "Connection: close\r\n\r\n"
        )
        return head.encode() + (self.body if has_body else b"")


class Endpoints:
    """Listens from construction on. `ready` returns the reason why the server is not ready, or None."""

    def __init__(self, config: MetricsConfig, ready: Callable[[], str | None], metrics: Callable[[], bytes]) -> None:
        self._ready, self._metrics = ready, metrics
        family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
        try:
            self._listener = socket.create_server((config.host, config.port), family=family, backlog=BACKLOG)
        except OSError as error:
            raise ConfigError(
                f"can't tell health and metrics on {config.host}:{config.port}: {error.strerror or error}. Choose "
                f"another port in [server.metrics], or set enabled = false there."
            ) from error
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._open: dict[asyncio.Task[None], None] = {}
        """The connections, oldest first."""
        self._computing: dict[str, asyncio.Future[Page]] = {}
        self._worker = ThreadPoolExecutor(2, thread_name_prefix="pinakes-metrics")
        self._thread = threading.Thread(target=self._run, name="pinakes-metrics", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"http://{str(host) if ':' not in str(host) else f'[{host!s}]'}:{port}"

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._worker.shutdown(wait=False)
            self._loop.close()
            self._listener.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, sock=self._listener, limit=MOST_BYTES)
        await self._ended.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = None
        if len(self._open) > MOST_CONNECTIONS:
            next(iter(self._open)).cancel()
        try:
            async with asyncio.timeout(PATIENCE):
                writer.write(await self._response(await _head(reader)))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # too slow, disconnected, or evicted: there is no client to answer
        finally:
            writer.transport.abort()
            del self._open[task]

    async def _response(self, head: bytes | None) -> bytes:
        if head is None:
            return Page(431, b"the request is too large\n").response(has_body=True)
        method, _, rest = head.decode("latin-1").partition("\n")[0].strip().partition(" ")
        path, _, version = rest.partition(" ")
        if not version.startswith("HTTP/1."):
            return Page(400, b"this is not an HTTP request\n").response(has_body=True)
        if method not in ("GET", "HEAD"):
            return Page(405, b"GET and HEAD are allowed\n").response(has_body=True)
        return (await self._page(path.partition("?")[0])).response(has_body=method == "GET")

    async def _page(self, path: str) -> Page:
        match path:
            case "/health":
                return Page(200, b"ok\n")
            case "/ready" | "/metrics":
                # Concurrent requests share one computation per page.
                if path not in self._computing:
                    made = self._loop.run_in_executor(self._worker, self._state if path == "/ready" else self._figures)
                    self._computing[path] = made
                    made.add_done_callback(lambda _: self._computing.pop(path, None))
                return await asyncio.shield(self._computing[path])
            case _:
                return Page(404, b"there are: /health, /ready, /metrics\n")

    def _state(self) -> Page:
        why = self._ready()
        return Page(200, b"ready\n") if why is None else Page(503, f"{why}\n".encode())

    def _figures(self) -> Page:
        return Page(200, self._metrics(), CONTENT_TYPE)


async def _head(reader: asyncio.StreamReader) -> bytes | None:
    """Returns the request line and the headers; None if they are too long. The body is not read."""
    head = b""
    while b"\r\n\r\n" not in head and b"\n\n" not in head:
        if len(head) > MOST_BYTES:
            return None
        more = await reader.read(MOST_BYTES)
        if not more:
            break
        head += more
    return head
