"""Bearer tokens and the password grant, against a real Keycloak: who is let in, who is not, and as whom."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import jwt
import pyarrow.flight as fl
import pytest
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.flight.identities import (
    Cookies,
    as_user,
    asked,
    configured,
    granted,
    headers,
    is_refused,
    is_turned_away,
    oidc,
    parts,
    query,
    unsigned,
    whoami,
    with_token,
)
from tests.flight.serving import Serving, eventually
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(keycloak_server: Facts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    toml = oidc(
        keycloak_server,
        clock_skew="0s",
        password_grant=True,
        client_id="pinakes",
        client_secret="pinakes-secret",
    )
    with configured(tmp_path_factory.mktemp("oidc"), toml) as running:
        yield running


@pytest.fixture
def token(keycloak_server: Facts) -> str:
    return granted(keycloak_server["realm_uri"], "bob")


def is_admin(server: Serving, **options: object) -> bool:
    """Administrators see the sessions of all."""
    rows = asked(server, 'SELECT count(DISTINCT "user") FROM system.runtime.sessions', **options)
    return int(rows[0][0]) > 1


def test_a_token_says_who_calls_and_a_role_who_is_administrator(
    server: Serving, keycloak_server: Facts, token: str
) -> None:
    alice = granted(keycloak_server["realm_uri"], "alice")
    with server.connect(**with_token(token)) as bobs, bobs.cursor() as cursor:
        cursor.execute("SELECT current_user")  # bob's session stays open meanwhile
        assert cursor.fetchone() == ("bob",)
        assert whoami(server, **with_token(alice)) == "alice"
        assert is_admin(server, **with_token(alice))
        assert not is_admin(server, **with_token(token))


def test_an_expired_token(server: Serving, keycloak_server: Facts) -> None:
    """It lasts three seconds: one that was let in is not any more."""
    brief = [""]

    def is_let_in() -> bool:
        brief[0] = granted(keycloak_server["realm_uri"], "bob", "pinakes-brief")
        return not is_turned_away(server, brief[0])

    assert eventually(is_let_in)
    assert eventually(lambda: is_turned_away(server, brief[0]))


def test_a_token_for_others(server: Serving, keycloak_server: Facts) -> None:
    assert is_refused(server, **with_token(granted(keycloak_server["realm_uri"], "bob", "engine")))


def test_a_token_of_another_issuer(server: Serving, keycloak_server: Facts) -> None:
    form = {"client_id": "admin-cli", "grant_type": "password", "username": "admin", "password": "admin"}
    address = f"{keycloak_server['uri']}/realms/master/protocol/openid-connect/token"
    foreign = requests.post(address, form, timeout=60).json()["access_token"]
    assert is_refused(server, **with_token(foreign))


def test_a_signature_that_is_wrong(server: Serving, token: str) -> None:
    head, _, signature = token.rpartition(".")
    turned = signature[:40] + ("A" if signature[40] != "A" else "B") + signature[41:]
    assert is_refused(server, **with_token(f"{head}.{turned}"))
    assert is_refused(server, **with_token(f"{head}."))


def test_claims_that_were_changed(server: Serving, token: str) -> None:
    _, body = parts(token)
    _, _, signature = token.rpartition(".")
    head = token.partition(".")[0]
    forged = unsigned({}, {**body, "preferred_username": "alice"}).split(".")[1]
    assert is_refused(server, **with_token(f"{head}.{forged}.{signature}"))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE"])
def test_no_signature_at_all(server: Serving, token: str, algorithm: str) -> None:
    head, body = parts(token)
    assert is_refused(server, **with_token(unsigned({**head, "alg": algorithm}, body)))


def test_a_key_of_ones_own_under_the_name_of_the_issuers(server: Serving, token: str) -> None:
    head, body = parts(token)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert is_refused(server, **with_token(jwt.encode(body, key, "RS256", headers={"kid": head["kid"]})))
    assert is_refused(server, **with_token(jwt.encode(body, key, "RS256", headers={"kid": "another"})))


def test_the_public_key_as_a_shared_secret(server: Serving, keycloak_server: Facts, token: str) -> None:
    """An old mistake of libraries: what everybody knows would sign."""
    head, body = parts(token)
    keys = requests.get(f"{keycloak_server['realm_uri']}/protocol/openid-connect/certs", timeout=60).json()["keys"]
    public = jwt.PyJWK(next(key for key in keys if key["kid"] == head["kid"])).key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    text = unsigned({**head, "alg": "HS256"}, body).removesuffix(".")
    signature = hmac.digest(public, text.encode(), hashlib.sha256)
    forged = f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
    assert is_refused(server, **with_token(forged))


@pytest.mark.parametrize("junk", ["", "x", "a.b.c", "....", "eyJhbGciOiJSUzI1NiJ9.e30.AAAA", "x" * 7000])
def test_what_is_no_token(server: Serving, junk: str) -> None:
    with fl.connect(server.uri) as client, pytest.raises(fl.FlightUnauthenticatedError, match="invalid credentials"):
        client.get_flight_info(query("SELECT 1"), headers(junk))


# --- keys come and go --------------------------------------------------------------------------------------------


class Realm:
    """A realm of the test's own, whose keys it changes."""

    def __init__(self, keycloak: Facts) -> None:
        self.name = f"r{uuid.uuid4().hex[:8]}"
        self._base, self._uri = keycloak["uri"], f"{keycloak['uri']}/admin/realms"
        mapper = {
            "name": "audience",
            "protocol": "openid-connect",
            "protocolMapper": "oidc-audience-mapper",
            "config": {"included.custom.audience": "pinakes", "access.token.claim": "true"},
        }
        client = {
            "clientId": "pinakes",
            "secret": "pinakes-secret",
            "directAccessGrantsEnabled": True,
            "protocolMappers": [mapper],
        }
        user = {
            "username": "carol",
            "enabled": True,
            "email": "carol@localhost.localdomain",
            "emailVerified": True,
            "firstName": "Carol",
            "lastName": "Carol",
            "credentials": [{"type": "password", "value": "carol"}],
        }
        made = {"realm": self.name, "enabled": True, "sslRequired": "none", "clients": [client], "users": [user]}
        self._post("", made)

    @property
    def uri(self) -> str:
        return f"{self._base}/realms/{self.name}"

    def new_key(self) -> None:
        """One that signs from now on, and the old ones stay."""
        config = {"priority": [str(int(time.time()))], "algorithm": ["RS256"], "keySize": ["2048"]}
        realm = requests.get(f"{self._uri}/{self.name}", headers=self._login(), timeout=60).json()
        self._post(
            f"/{self.name}/components",
            {
                "name": uuid.uuid4().hex,
                "providerId": "rsa-generated",
                "providerType": "org.keycloak.keys.KeyProvider",
                "parentId": realm["id"],
                "config": config,
            },
        )

    def revoke(self, kid: str) -> None:
        keys = requests.get(f"{self._uri}/{self.name}/keys", headers=self._login(), timeout=60).json()["keys"]
        provider = next(key["providerId"] for key in keys if key["kid"] == kid)
        gone = requests.delete(f"{self._uri}/{self.name}/components/{provider}", headers=self._login(), timeout=60)
        gone.raise_for_status()

    def _post(self, path: str, body: object) -> None:
        requests.post(f"{self._uri}{path}", json=body, headers=self._login(), timeout=60).raise_for_status()

    def _login(self) -> dict[str, str]:
        form = {"client_id": "admin-cli", "grant_type": "password", "username": "admin", "password": "admin"}
        address = f"{self._base}/realms/master/protocol/openid-connect/token"
        return {"Authorization": f"Bearer {requests.post(address, form, timeout=60).json()['access_token']}"}


def test_keys_are_rotated_and_revoked(keycloak_server: Facts, tmp_path: Path) -> None:
    realm = Realm(keycloak_server)
    settings = {"issuer": realm.uri, "keys_age": "6s"}
    with configured(tmp_path, oidc(keycloak_server, **settings)) as server:
        old = granted(realm.uri, "carol")
        assert whoami(server, **with_token(old)) == "carol"
        realm.new_key()
        new = granted(realm.uri, "carol")
        assert parts(new)[0]["kid"] != parts(old)[0]["kid"]
        assert eventually(lambda: not is_turned_away(server, new))  # keys are asked for every 5 seconds
        assert whoami(server, **with_token(old)) == "carol"
        realm.revoke(parts(old)[0]["kid"])
        assert eventually(lambda: is_turned_away(server, old))
        assert whoami(server, **with_token(new)) == "carol"


def test_an_issuer_that_is_down_is_reported_and_the_server_lives(tmp_path: Path) -> None:
    toml = (
        '[server.oidc]\nissuer = "http://127.0.0.1:9/realms/x"\naudience = "pinakes"\n[server.tokens]\nbot = "t0k3n"\n'
    )
    with configured(tmp_path, toml) as server, fl.connect(server.uri) as client:
        assert whoami(server, **with_token("t0k3n")) == "bot"
        some = jwt.encode({"aud": "pinakes"}, rsa.generate_private_key(65537, 2048), "RS256", headers={"kid": "k"})
        with pytest.raises(fl.FlightUnavailableError, match="identity provider is unavailable"):
            client.get_flight_info(query("SELECT 1"), headers(some))
        assert whoami(server, **with_token("t0k3n")) == "bot"


# --- passwords ---------------------------------------------------------------------------------------------------


def test_the_password_grant(server: Serving) -> None:
    assert whoami(server, **as_user("bob", "bob")) == "bob"
    assert whoami(server, **as_user("alice", "alice")) == "alice"
    assert is_refused(server, **as_user("bob", "alice"))
    assert is_refused(server, **as_user("nobody", "x"))
    assert is_refused(server, **as_user("", ""))
    assert "alice" not in "".join(line for line in server.said if "refused" in line)


def test_a_log_in_by_password_is_renewed(keycloak_server: Facts, tmp_path: Path) -> None:
    """The token that was given for the password lasts three seconds, the log-in as long as the issuer renews it."""
    grant = {"password_grant": True, "client_id": "pinakes-brief", "client_secret": "pinakes-brief-secret"}
    with (
        configured(tmp_path, oidc(keycloak_server, **grant)) as server,
        server.connect(**as_user("bob", "bob")) as connection,
        connection.cursor() as cursor,
    ):
        until = time.monotonic() + 5
        while time.monotonic() < until:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == ("bob",)
            time.sleep(0.5)


# --- sessions ----------------------------------------------------------------------------------------------------


def test_the_cookie_of_somebody_elses_session(server: Serving, keycloak_server: Facts, token: str) -> None:
    alice, jar = granted(keycloak_server["realm_uri"], "alice"), Cookies()
    with fl.connect(server.uri, middleware=[jar]) as client:
        client.get_flight_info(query("SET time_zone = 'Europe/Athens'"), headers(alice))
        cookie = jar.kept[0].partition(";")[0]
        again = client.get_flight_info(query("SHOW time_zone"), headers(alice, cookie))
        assert "Europe/Athens" in str(client.do_get(again.endpoints[0].ticket, headers(alice, cookie)).read_all())
        with pytest.raises(fl.FlightUnauthorizedError, match="belongs to another user"):
            client.get_flight_info(query("SHOW time_zone"), headers(token, cookie))
        with pytest.raises(fl.FlightUnauthenticatedError):
            client.get_flight_info(query("SHOW time_zone"), headers("nobodys", cookie))


def test_the_users_own_token_goes_on_to_the_catalog(
    keycloak_server: Facts, nessie_auth_server: Facts, moto_server: Facts, tmp_path: Path
) -> None:
    """Nessie lets alice see all but `bobonly`, and bob what is shared."""
    mounted = f"[catalogs.nessie]\ntype = 'iceberg_rest'\nlocation = '{nessie_auth_server['uri']}'\npass_token = true\n"
    shared, closed = f"shared_{uuid.uuid4().hex[:8]}", f"alices_{uuid.uuid4().hex[:8]}"
    with configured(tmp_path, oidc(keycloak_server) + mounted + '[server.tokens]\nrobot = "t0k3n"\n') as server:
        alice, bob = (with_token(granted(keycloak_server["realm_uri"], user)) for user in ("alice", "bob"))
        for namespace in (shared, closed):
            asked_change(server, f"CREATE SCHEMA nessie.{namespace}", alice)
        of = {name: {row[0] for row in asked(server, "SHOW SCHEMAS IN nessie", **who)} for name, who in
              (("alice", alice), ("bob", bob))}  # fmt: skip
        assert {shared, closed} <= of["alice"]
        assert shared in of["bob"]
        assert closed not in of["bob"]
        with pytest.raises(Exception, match="this session has none: connect with one"):
            asked(server, "SHOW SCHEMAS IN nessie", **with_token("t0k3n"))


def asked_change(server: Serving, sql: str, options: dict[str, object]) -> None:
    with server.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
