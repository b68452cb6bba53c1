"""TLS from the configuration, and certificates of clients: demanded beside a password, or instead of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.flight as fl
import pytest

from tests.flight.certificates import Authority, Pair
from tests.flight.identities import configured, headers, query
from tests.flight.serving import Serving


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@contextmanager
def serving_tls(directory: Path, authority: Authority, more: str) -> Iterator[Serving]:
    own = authority.signs("localhost", "localhost")
    toml = f'[server.tls]\ncertificate = "{own.cert.name}"\nkey = "{own.key.name}"\n{more}'
    with configured(directory, toml, "--host", "localhost") as server:
        assert server.uri.startswith("grpc+tls://")
        yield server


@contextmanager
def client_of(server: Serving, authority: Authority, pair: Pair | None = None) -> Iterator[fl.FlightClient]:
    own = {} if pair is None else {"cert_chain": pair.cert.read_bytes(), "private_key": pair.key.read_bytes()}
    with fl.connect(server.uri, tls_root_certs=authority.file.read_bytes(), **own) as client:
        yield client


def whoami(client: fl.FlightClient, options: fl.FlightCallOptions | None = None) -> str:
    info = client.get_flight_info(query("SELECT current_user AS u"), options)
    return str(client.do_get(info.endpoints[0].ticket, options).read_all()["u"][0])


def test_a_certificate_says_who_calls(tmp_path: Path, authority: Authority) -> None:
    more = f'client_ca = "{authority.file.name}"\ncertificate_user = true\n'
    with serving_tls(tmp_path, authority, more) as server:
        for pair, name in (
            (authority.signs("ann"), "ann"),
            (authority.signs("a person", "bob.example.com"), "bob.example.com"),
        ):
            with client_of(server, authority, pair) as client:
                assert whoami(client) == name
        with client_of(server, authority, authority.signs("carol")) as client:
            client.get_flight_info(query("CREATE TEMP TABLE t AS SELECT 1 AS x"))
            assert whoami(client, headers("whatever")) == "carol"  # what else is said counts for nothing


def test_without_the_right_certificate_there_is_no_connection(tmp_path: Path, authority: Authority) -> None:
    stranger = Authority(tmp_path, "a stranger")
    more = f'client_ca = "{authority.file.name}"\ncertificate_user = true\n'
    with serving_tls(tmp_path, authority, more) as server:
        for pair in (None, stranger.signs("ann"), authority.signs("late", days=-1)):
            with client_of(server, authority, pair) as client, pytest.raises(fl.FlightUnavailableError):
                whoami(client)
        with client_of(server, authority, authority.signs("bob")) as client:
            assert whoami(client) == "bob"


def test_a_certificate_beside_a_token(tmp_path: Path, authority: Authority) -> None:
    more = f'client_ca = "{authority.file.name}"\n[server.tokens]\nrobot = "t0k3n"\n'
    with serving_tls(tmp_path, authority, more) as server:
        with client_of(server, authority) as client, pytest.raises(fl.FlightUnavailableError):
            whoami(client, headers("t0k3n"))
        with client_of(server, authority, authority.signs("ann")) as client:
            with pytest.raises(fl.FlightUnauthenticatedError):
                whoami(client)
            assert whoami(client, headers("t0k3n")) == "robot"
