"""Clients that send half a request, or nothing, must not keep others from /health and from the Flight port."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.flight as fl
import pytest

from pinakes.config.serving import MetricsConfig
from pinakes.server import endpoints
from pinakes.server.endpoints import Endpoints
from tests.flight.identities import configured, query, whoami, with_token
from tests.flight.serving import PATIENCE, Serving

HALF = b"GET /health HTTP/1.1\r\nHost: x\r\nX-Half: "


@contextmanager
def told(metrics: bytes = b"figures\n") -> Iterator[Endpoints]:
    found = Endpoints(MetricsConfig(port=0), lambda: None, lambda: metrics)
    try:
        yield found
    finally:
        found.close()


def connected(address: str) -> socket.socket:
    place = urlsplit(address)
    return socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=PATIENCE)


def answer(address: str, request: bytes) -> bytes:
    with connected(address) as talking:
        talking.sendall(request)
        return b"".join(iter(lambda: talking.recv(1 << 16), b""))


def test_health_is_answered_while_half_sent_requests_are_open() -> None:
    with told() as found, ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connected(found.address)).sendall(HALF)
        for _ in range(20):
            assert answer(found.address, b"GET /health HTTP/1.1\r\n\r\n").endswith(b"ok\n")
        assert answer(found.address, b"GET /ready HTTP/1.1\r\n\r\n").endswith(b"ready\n")
        assert answer(found.address, b"GET /metrics HTTP/1.1\r\n\r\n").endswith(b"figures\n")


def test_more_connections_than_allowed_close_the_oldest() -> None:
    with told() as found, ExitStack() as stack:
        silent = [stack.enter_context(connected(found.address)) for _ in range(endpoints.MOST_CONNECTIONS + 20)]
        assert answer(found.address, b"GET /health HTTP/1.1\r\n\r\n").endswith(b"ok\n")
        assert all(_is_closed(talking) for talking in silent[:10])


def test_a_client_that_drips_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for the whole request: another byte does not prolong it."""
    monkeypatch.setattr(endpoints, "PATIENCE", 0.2)
    with told() as found, connected(found.address) as talking:
        talking.settimeout(0.02)
        for _ in range(1000):
            try:
                talking.sendall(b"x")
                if talking.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return
    pytest.fail("it was never dropped")


def test_a_client_that_reads_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "PATIENCE", 0.2)
    with told(b"x" * 50_000_000) as found, connected(found.address) as talking:
        talking.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert answer(found.address, b"GET /health HTTP/1.1\r\n\r\n").endswith(b"ok\n")
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            talking.sendall(b"x" * 100_000_000)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n", b"431"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"GARBAGE\r\n\r\n", b"400"),
        (b"GET /other HTTP/1.1\r\n\r\n", b"404"),
        (b"HEAD /health HTTP/1.0\n\n", b"200"),
    ],
)
def test_what_is_no_request_gets_an_answer(request_: bytes, status: bytes) -> None:
    with told() as found:
        try:
            assert answer(found.address, request_).split()[1] == status
        except ConnectionResetError:
            assert status == b"431"  # it was closed before all was sent


def _is_closed(talking: socket.socket) -> bool:
    try:
        return talking.recv(1) == b""
    except ConnectionResetError:
        return True


# --- the Flight port -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    directory: Path = tmp_path_factory.mktemp("half")
    with configured(directory, '[server.tokens]\nbot = "secret-bot-token"\n') as running:
        yield running


@pytest.mark.slow
def test_half_open_connections_do_not_block_the_flight_port(server: Serving) -> None:
    with ExitStack() as stack:
        for begun in (b"", b"PRI * HTTP/2.0\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x40\x04"):
            for _ in range(40):
                stack.enter_context(connected(server.uri)).sendall(begun)
        assert whoami(server, **with_token("secret-bot-token")) == "bot"


@pytest.mark.slow
@pytest.mark.parametrize("size", [4_000, 60_000])
@pytest.mark.parametrize("header", [b"authorization", b"cookie", b"x-pinakes-client", b"x-anything"])
def test_large_headers_are_refused(server: Serving, header: bytes, size: int) -> None:
    options = fl.FlightCallOptions(headers=[(header, b"a" * size)], timeout=PATIENCE)
    with fl.connect(server.uri) as client, pytest.raises((fl.FlightError, pa.ArrowException)) as error:
        client.get_flight_info(query("SELECT 1"), options)
    assert "INTERNAL_ERROR" not in str(error.value)
    assert "Traceback" not in server.output
