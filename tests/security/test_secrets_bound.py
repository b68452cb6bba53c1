"""Finding 4: secrets of the configuration were usable by everyone, and were sent to any host that a user named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.core.errors import InvalidArgument
from pinakes.core.identity import Identity
from pinakes.core.secrets import Secret, covers, parse_secret
from tests.flight.identities import configured
from tests.flight.serving import Serving
from tests.security.recording import ANN, USERS, Catalog, catalog, refused, run

PLANTED = "hunter2zQ9"


@pytest.fixture(scope="module")
def partner() -> Iterator[Catalog]:
    with catalog() as running:
        yield running


@pytest.fixture(scope="module")
def server(partner: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    values = {
        "bearer": f'token = "{PLANTED}"',
        "basic": f'username = "lab"\npassword = "{PLANTED}"',
        "oauth2": f'client_id = "lab"\nclient_secret = "{PLANTED}"',
    }
    toml = USERS + '[access]\noutbound = ["127.0.0.1"]\n'
    for kind, given in values.items():
        toml += f'[secrets.{kind}]\ntype = "{kind}"\n{given}\n'
        toml += f'[secrets.eves_{kind}]\ntype = "{kind}"\n{given}\nusers = ["eve"]\nscope = "{partner.uri}/iceberg"\n'
        toml += f'[secrets.everyones_{kind}]\ntype = "{kind}"\n{given}\nusers = ["*"]\n'
    toml += f'[catalogs.partner]\ntype = "iceberg_rest"\nlocation = "{partner.uri}/iceberg"\nsecret = "bearer"\n'
    with configured(tmp_path_factory.mktemp("bound"), toml) as running:
        yield running


@pytest.fixture
def rogue() -> Iterator[Catalog]:
    with catalog() as running:
        yield running


KINDS = ("bearer", "basic", "oauth2")


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_the_configuration_is_not_there_for_users_that_it_does_not_name(
    server: Serving, rogue: Catalog, kind: str
) -> None:
    attach = f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest, SECRET {kind})"
    assert f"SECRET_NOT_FOUND: secret '{kind}' does not exist" in refused(server, attach)
    assert rogue.requests == []
    assert kind not in {name for (name,) in run(server, "SELECT name FROM system.runtime.secrets")}


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_sent_to_no_host_outside_its_scope(server: Serving, rogue: Catalog, kind: str) -> None:
    attach = f"ATTACH '{rogue.uri}/iceberg' AS r (TYPE iceberg_rest, SECRET eves_{kind})"
    assert "PERMISSION_DENIED: " in (error := refused(server, attach))
    assert f"secret 'eves_{kind}' is for http://127.0.0.1" in error
    assert PLANTED not in error
    assert rogue.requests == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["", "/other", "/iceberg2", "/iceberg/../other", "/iceberg/%2e%2e/other"])
def test_a_secret_is_sent_to_no_path_outside_its_scope(server: Serving, partner: Catalog, kind: str, path: str) -> None:
    before = len(partner.requests)
    refused(server, f"ATTACH '{partner.uri}{path}' AS r (TYPE iceberg_rest, SECRET eves_{kind})")
    assert len(partner.requests) == before


def test_a_secret_goes_to_its_scope(server: Serving, partner: Catalog) -> None:
    for kind in KINDS:
        run(server, f"ATTACH '{partner.uri}/iceberg' AS {kind}_catalog (TYPE iceberg_rest, SECRET eves_{kind})")
    headers = {headers.get("Authorization") for _, headers, _ in partner.requests}
    assert {f"Bearer {PLANTED}", "Bearer fetched"} <= headers
    assert run(server, "SELECT name FROM system.runtime.secrets WHERE name = 'eves_bearer'") == [("eves_bearer",)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_for_everyone_needs_a_scope(server: Serving, rogue: Catalog, kind: str) -> None:
    attach = f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest, SECRET everyones_{kind})"
    assert "is shared and has no SCOPE" in refused(server, attach)
    assert rogue.requests == []
    run(server, f"ATTACH '{rogue.uri}' AS r{kind} (TYPE iceberg_rest, SECRET everyones_{kind})", **ANN)
    assert rogue.requests


def test_a_catalog_of_the_configuration_uses_its_secret_for_everyone(server: Serving, partner: Catalog) -> None:
    partner.requests.clear()
    assert run(server, "SHOW SCHEMAS FROM partner") is not None
    assert f"Bearer {PLANTED}" in partner.sent


@pytest.mark.parametrize(
    ("type", "location", "secret"),
    [
        ("jdbc", "postgresql://127.0.0.1:{port}/d", "eves_basic"),
        ("jdbc", "mysql://127.0.0.1:{port}/d", "eves_basic"),
        ("jdbc", "postgresql://127.0.0.1:{partner},127.0.0.1:{port}/d", "eves_basic"),
        ("vgi", "http://127.0.0.1:{port}", "eves_bearer"),
    ],
)
def test_databases_and_workers_get_no_secret_outside_its_scope(
    server: Serving, partner: Catalog, rogue: Catalog, type: str, location: str, secret: str
) -> None:
    where = location.format(port=rogue.port, partner=partner.port)
    assert "is not sent to" in refused(server, f"ATTACH '{where}' AS r (TYPE {type}, SECRET {secret})")
    assert rogue.requests == []


def test_a_users_own_secret_honours_its_scope(server: Serving, rogue: Catalog) -> None:
    create = f"CREATE OR REPLACE SECRET mine (TYPE bearer, TOKEN '{PLANTED}', SCOPE 'https://catalog.example.com')"
    attach = f"ATTACH '{rogue.uri}' AS r (TYPE iceberg_rest, SECRET mine)"
    assert "is for https://catalog.example.com and is not sent to http://127.0.0.1" in refused(server, create, attach)
    assert rogue.requests == []


def test_a_redirect_carries_no_credentials_to_another_origin(server: Serving, partner: Catalog, rogue: Catalog) -> None:
    partner.redirect = rogue.uri
    try:
        attach = f"ATTACH '{partner.uri}/iceberg' AS led_away (TYPE iceberg_rest, SECRET eves_bearer)"
        run(server, attach)
    finally:
        partner.redirect = None
    assert rogue.requests
    assert PLANTED not in rogue.sent
    assert all("Authorization" not in headers for _, headers, _ in rogue.requests)


# --- how ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "place", "is_covered"),
    [
        ("", "http://anywhere/", True),
        ("https://h", "https://h:443/a", True),
        ("https://h", "http://h/a", False),
        ("https://h", "https://h:8443/a", False),
        ("https://H.example.com.", "https://h.example.com/a?b#c", True),
        ("https://h", "https://h.evil.example.com/", False),
        ("https://h", "https://h@evil.example.com/", False),
        ("https://h", "https://evil.example.com/?https://h", False),
        ("https://h", "https://h\\@evil.example.com/", False),
        ("https://h/a", "https://h/a", True),
        ("https://h/a/", "https://h/a/b", True),
        ("https://h/a", "https://h/ab", False),
        ("https://h/a", "https://h/a/../b", False),
        ("https://h/a", "https://h/a/%2E%2e/b", False),
        ("https://h/a", "https://h/a/x%2f..%2fb", False),
        ("https://h/a", "https://h//a", False),
        ("postgresql://db", "postgresql://db:5432/x", True),
        ("postgresql://db/x", "postgresql://db:5432/y", False),
        ("s3://a", "s3://a/b", True),
        ("s3://a", "s3a://a/b", True),
        ("s3://a", "s3://ab/c", False),
        ("s3://a/b", "s3://a/b/../c", False),
        ("s3://a/b", "s3://A/b/c", False),
        ("s3://", "s3://a/b", True),
    ],
)
def test_scopes(scope: str, place: str, is_covered: bool) -> None:
    assert covers(scope, place) is is_covered


@pytest.mark.parametrize("scope", ["h", "https://", "https://u@h", "https://h/a?b", "https://h/../a", "s3://bucket", 1])
def test_what_can_not_be_the_scope_of_a_token(scope: object) -> None:
    with pytest.raises(InvalidArgument, match="SCOPE of secret s must be"):
        parse_secret("s", "eve", {"TYPE": "bearer", "TOKEN": "x", "SCOPE": scope})


def test_who_may_use_a_secret() -> None:
    secret = Secret("s", "bearer", "", {}, shared=True, users=["eve"], roles=["analysts"])
    assert secret.serves(Identity("eve"))
    assert secret.serves(Identity("bob", roles=frozenset({"analysts"})))
    assert secret.serves(Identity("ann", roles=frozenset({"admin"})))
    assert not secret.serves(Identity("bob"))
    assert not Secret("s", "bearer", "bob", {}).serves(Identity("ann", roles=frozenset({"admin"})))


def test_roles_of_the_identity_provider_are_the_users() -> None:
    """All but one that is called as the role of our administrators: only administrator_roles make one."""
    from pinakes.config.server import OidcConfig
    from pinakes.server.logins.oidc import Oidc

    oidc = Oidc(OidcConfig("https://issuer.example.com", ("a",), roles_claim="groups", administrator_roles=("boss",)))
    for groups, roles in (
        (["analysts", "admin"], {"analysts"}),
        (["boss"], {"boss", "admin"}),
        ("analysts", {"analysts"}),
        (None, set()),
        ({"admin": 1}, set()),
    ):
        found = oidc._identity("token", {"preferred_username": "eve", "groups": groups})
        assert found is not None
        assert found.roles == roles


def test_users_and_roles_of_the_configuration_are_lists(tmp_path: Path) -> None:
    from pinakes.config.model import parse_config
    from pinakes.core.errors import ConfigError

    found = parse_config('[secrets.s]\ntype = "bearer"\ntoken = "x"\nusers = "eve"\nroles = ["a", "b"]', tmp_path)
    assert (found.secrets["s"].users, found.secrets["s"].roles) == (("eve",), ("a", "b"))
    with pytest.raises(ConfigError, match=r"secrets\.s\.users must be a list of texts"):
        parse_config('[secrets.s]\ntype = "bearer"\nusers = 1', tmp_path)
