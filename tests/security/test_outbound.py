"""The outbound policy: a user who is not an administrator can't lead the server to its own network."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.core.access.outbound import Destination, Outbound, destination_of, is_public
from pinakes.core.errors import ConfigError, InvalidArgument, PermissionDenied, PinakesError
from pinakes.core.identity import Identity
from pinakes.core.secrets import Access
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.providers.iceberg.storage import limited_storage
from tests.flight.identities import configured
from tests.flight.serving import Serving
from tests.security.recording import ANN, USERS, catalog, listener, refused, run


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """As it is by default."""
    with configured(tmp_path_factory.mktemp("outbound"), USERS) as running:
        yield running


HOSTS = ("127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::ffff:127.0.0.1]")


def test_nothing_of_a_user_reaches_the_servers_own_machine(server: Serving, tmp_path: Path) -> None:
    with listener() as inside:
        port = inside.port
        keys = "KEY_ID 'a', SECRET 'b', REGION 'eu-central-1'"
        for host in HOSTS:
            attach = f"ATTACH 'http://{host}:{port}' AS r (TYPE iceberg_rest)"
            assert "PERMISSION_DENIED: connecting to " in refused(server, attach), host
        for location, options in [
            (f"postgresql://u@127.0.0.1:{port}/d", "TYPE jdbc"),
            (f"mysql://u@localhost:{port}/d", "TYPE jdbc"),
            (f"postgresql://u@one.one.one.one:1,127.0.0.1:{port}/d", "TYPE jdbc"),
            (f"http://127.0.0.1:{port}", "TYPE vgi"),
            (f"thrift://localhost:{port}", "TYPE hms"),
            ("", f"TYPE glue, SECRET keys, ENDPOINT 'http://127.0.0.1:{port}'"),
            (f"http://127.0.0.1:{port}", "TYPE glue, SECRET keys"),
            ("", f"TYPE glue, SECRET keys, S3_ENDPOINT 'http://127.0.0.1:{port}'"),
            ("arn:aws:s3tables:eu-central-1:1:bucket/b", f"TYPE s3tables, SECRET keys, ENDPOINT 'http://localhost:{port}'"),
            ("s3://bucket/x", "TYPE hadoop, STORAGE_SECRET store"),
            ("https://catalog.example.com", f"TYPE iceberg_rest, ENDPOINT 'http://127.0.0.1:{port}'"),
            ("https://catalog.example.com", "TYPE iceberg_rest, SECRET tokens"),
        ]:  # fmt: skip
            error = refused(
                server,
                f"CREATE OR REPLACE SECRET keys (TYPE aws, {keys})",
                f"CREATE OR REPLACE SECRET store (TYPE s3, {keys}, ENDPOINT 'http://127.0.0.1:{port}')",
                "CREATE OR REPLACE SECRET tokens (TYPE oauth2, CLIENT_ID 'a', CLIENT_SECRET 'b', "
                f"TOKEN_URI 'http://127.0.0.1:{port}/t')",
                f"ATTACH '{location}' AS r ({options}, VERIFY true)",
            )
            assert "PERMISSION_DENIED: connecting to " in error, (location, options, error)
        error = refused(
            server,
            f"CREATE OR REPLACE SECRET store (TYPE s3, {keys}, ENDPOINT 'http://127.0.0.1:{port}')",
            "SELECT * FROM read_csv('s3://bucket/x.csv')",
        )
        assert "PERMISSION_DENIED: connecting to " in error
        assert inside.connections == 0


def test_unix_sockets_are_for_administrators(server: Serving, tmp_path: Path) -> None:
    for location, type in (
        (f"unix://{tmp_path}/s", "vgi"),
        (f"postgresql://u@{str(tmp_path).replace('/', '%2F')}/d", "jdbc"),
    ):
        error = refused(server, f"ATTACH '{location}' AS r (TYPE {type})")
        assert "PERMISSION_DENIED" in error, error


def test_administrators_are_not_limited(server: Serving) -> None:
    with catalog() as inside:
        run(server, f"ATTACH '{inside.uri}' AS mine (TYPE iceberg_rest, VISIBILITY session)", **ANN)
        assert inside.requests


def test_a_redirect_leads_nowhere_else(tmp_path: Path) -> None:
    with catalog() as allowed, catalog() as inside:
        allowed.redirect = inside.uri
        with configured(tmp_path, USERS + f'[access]\noutbound = ["127.0.0.1:{allowed.port}"]\n') as server:
            error = refused(server, f"ATTACH '{allowed.uri}' AS r (TYPE iceberg_rest)")
        assert f"connecting to 127.0.0.1:{inside.port} is for administrators" in error
        assert allowed.requests
        assert inside.requests == []


# --- names that change their address -----------------------------------------------------------------------------


@pytest.fixture
def rebinding(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A resolver by which `rebind.example.com` has the allowed address 127.0.0.1 once, and then 127.0.0.2."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host != "rebind.example.com":
            return real(host, port, *args, **kwargs)
        asked.append(str(host))
        return real("127.0.0.1" if len(asked) == 1 else "127.0.0.2", port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.parametrize(
    ("location", "type"),
    [
        ("http://rebind.example.com:{port}", "iceberg_rest"),
        ("http://rebind.example.com:{port}", "vgi"),
        ("postgresql://u@rebind.example.com:{port}/d", "jdbc"),
        ("mysql://u@rebind.example.com:{port}/d", "jdbc"),
        ("thrift://rebind.example.com:{port}", "hms"),
    ],
)
def test_a_name_is_not_resolved_again_after_the_check(rebinding: list[str], location: str, type: str) -> None:
    config = parse_config("[engine]\ndata = ':memory:'", Path.cwd())
    with listener() as allowed, listener(("127.0.0.2", allowed.port)) as inside:
        with open_engine(config, Policy(("attach",), ("127.0.0.1",))) as engine:
            session = engine.session(Identity("eve"))
            with pytest.raises(PinakesError):
                session.run(f"ATTACH '{location.format(port=allowed.port)}' AS r (TYPE {type})").close()
        assert allowed.connections > 0
        assert inside.connections == 0
    assert rebinding


def test_every_address_of_a_name_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(2, 1, 6, "", (address, 80)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(PermissionDenied, match="it has no public address"):
        Outbound().addresses(Destination("both.example.com", 80))
    assert Outbound(["public", "10.0.0.0/8"]).addresses(Destination("both.example.com", 80)) == ["8.8.8.8", "10.0.0.1"]


# --- entries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    "127.0.0.1 10.1.1.1 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 224.0.0.1 239.255.255.255 100.64.1.1 240.0.0.1 "
    "255.255.255.255 192.0.0.170 198.18.0.1 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 2002:7f00:1:: 2002:a00:1:: "
    "64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 ::127.0.0.1 fe80::1 fd00::1 fec0::1 ff02::1 "
    "2001:0:53aa:64c:0:fbff:ab9e:fffe".split(),
)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    ("entry", "url", "is_allowed"),
    [
        ("127.0.0.1", "http://127.0.0.1:1", True),
        ("127.0.0.1:1", "http://127.0.0.1:2", False),
        ("127.0.0.1:1", "http://[::ffff:127.0.0.1]:1", True),
        ("10.0.0.0/8", "http://10.2.3.4", True),
        ("10.0.0.0/8:443", "https://10.2.3.4", True),
        ("10.0.0.0/8:443", "http://10.2.3.4", False),
        ("[::1]:8181", "http://[::1]:8181", True),
        ("localhost", "http://LOCALHOST.:80", True),
        ("localhost", "http://127.0.0.1", False),
        ("*.localhost", "http://localhost", False),
        ("*", "http://127.0.0.1", True),
        ("public", "http://127.0.0.1", False),
        ("public", "http://8.8.8.8", True),
        ("10.0.0.0/8", "http://8.8.8.8", False),
    ],
)
def test_entries(entry: str, url: str, is_allowed: bool) -> None:
    outbound = Outbound([entry])
    if is_allowed:
        assert outbound.addresses(destination_of(url))
    else:
        with pytest.raises(PermissionDenied, match=r"access\.outbound = "):
            outbound.addresses(destination_of(url))


@pytest.mark.parametrize(
    ("entries", "endpoint", "is_allowed"),
    [
        (["public"], "https://store.example.com", False),
        (["store.example.com"], "https://store.example.com", True),
        (["*.example.com:9000"], "store.example.com:9000", True),
        (["10.0.0.0/8"], "http://10.1.1.1:9000", True),
        (["10.0.0.0/8"], "http://store.example.com", False),
        (["public"], "https://s3.eu-central-1.amazonaws.com", True),
        (["public"], "https://glue.eu-central-1.amazonaws.com", True),
        (["public"], "https://ec2-10-0-0-1.compute.amazonaws.com", False),
        (["public"], "http://s3.eu-central-1.amazonaws.com:8080", False),
        ([], "https://s3.eu-central-1.amazonaws.com", False),
    ],
)
def test_a_library_connects_to_listed_endpoints_only(entries: list[str], endpoint: str, is_allowed: bool) -> None:
    limited = Access(outbound=Outbound(entries), ambient=False)
    if is_allowed:
        assert limited_storage({"s3.endpoint": endpoint}, limited)["s3.endpoint"] == endpoint
    else:
        with pytest.raises(PermissionDenied, match="is not listed"):
            limited_storage({"s3.endpoint": endpoint}, limited)


@pytest.mark.parametrize("entry", ["http://x", "a b", "a:99999", "a:b", ":80", "a.*.b", "*x.com", ""])
def test_wrong_entries_of_the_configuration(entry: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"access\.outbound must be a list of destinations"):
        parse_config(f'[access]\noutbound = ["{entry}"]', tmp_path)


# --- credentials of the server itself ----------------------------------------------------------------------------


def test_properties_of_a_catalog_do_not_bring_in_credentials_of_the_server() -> None:
    limited = Access(outbound=Outbound(), ambient=False)
    given = {
        "s3.anonymous": "false",
        "s3.role-arn": "arn:aws:iam::1:role/admin",
        "client.role-arn": "x",
        "client.profile-name": "admin",
        "s3.proxy-uri": "http://127.0.0.1",
        "adls.account-host": "x",
    }
    assert limited_storage(given, limited) == {"s3.anonymous": "true"}
    assert limited_storage({"s3.access-key-id": "a"}, limited) == {"s3.access-key-id": "a"}
    assert limited_storage(given, Access()) == given


@pytest.mark.parametrize("region", ["evil.example.com/", "x@evil.example.com", "a#", "a.b", "-a", "a" * 64])
def test_a_region_is_no_part_of_an_address(region: str) -> None:
    with pytest.raises(InvalidArgument, match="must be the name of a region"):
        limited_storage({"s3.region": region}, Access())


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["ATTACH 'thrift://8.8.8.8:1' AS r (TYPE hms, KERBEROS true)"], "credentials of the server"),
        (["CREATE SECRET k (TYPE aws, KEY_ID 'a', SECRET 'b')",
          "ATTACH '' AS r (TYPE glue, SECRET k, PROFILE 'admin', REGION 'eu-central-1')"], "credentials of the server"),
        (["CREATE SECRET k (TYPE aws, REGION 'eu-central-1')", "ATTACH '' AS r (TYPE glue, SECRET k)"], "has no keys"),
        (["CREATE SECRET k (TYPE s3, REGION 'x.evil.example.com/')"], "must be the name of a region"),
        (["ATTACH '' AS r (TYPE glue, REGION 'x/')"], "server_credentials"),
    ],
)  # fmt: skip
def test_ways_to_the_credentials_of_the_server(statements: list[str], said: str) -> None:
    config = parse_config("[engine]\ndata = ':memory:'", Path.cwd())
    with open_engine(config, Policy(("attach",))) as engine:
        session = engine.session(Identity("eve"))
        for statement in statements[:-1]:
            session.run(statement).close()
        with pytest.raises(PinakesError, match=said):
            session.run(statements[-1]).close()
