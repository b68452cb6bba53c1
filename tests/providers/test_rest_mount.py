"""REST catalogs, mounted from SQL: the cases of ATTACH and secrets, what goes over the wire, tokens that end."""

from __future__ import annotations

import json
import time

import pytest

from pinakes.core.errors import PinakesError
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import do, in_order, rows
from tests.providers.kinds import new_name, store_secret
from tests.providers.proxy import Answer, Asked, Proxy, proxied
from tests.providers.tokens import token_of
from tests.servers.base import Facts
from tests.servers.plugin import StartServer

pytestmark = pytest.mark.slow


def error_of(session: Session, sql: str) -> PinakesError:
    with pytest.raises(PinakesError) as caught:
        do(session, sql)
    return caught.value


def catalogs(session: Session) -> list[str]:
    """Those that are attached."""
    return [row[0] for row in rows(session, "SHOW CATALOGS") if row[0] != "system"]


# --- ATTACH, DETACH, secrets -------------------------------------------------------------------------------------


def test_attached_it_is_there(session: Session, rest_server: Facts) -> None:
    name = new_name()
    do(session, f"ATTACH '{rest_server['uri']}' AS partner (TYPE iceberg_rest)")
    do(session, f"CREATE SCHEMA partner.{name}")
    do(session, f"CREATE TABLE partner.{name}.orders AS SELECT 1 AS id")
    assert catalogs(session) == ["lake", "partner"]
    assert rows(session, f"SELECT id FROM partner.{name}.orders LIMIT 10") == [(1,)]


def test_a_name_that_is_taken(session: Session, rest_server: Facts) -> None:
    attach = f"ATTACH '{rest_server['uri']}' AS partner (TYPE iceberg_rest)"
    do(session, attach)
    assert "catalog 'partner' is attached already" in error_of(session, attach).message
    assert catalogs(session) == ["lake", "partner"]


def test_attached_detached_attached(session: Session, rest_server: Facts) -> None:
    for _ in range(2):
        do(session, f"ATTACH '{rest_server['uri']}' AS partner (TYPE iceberg_rest)")
        assert catalogs(session) == ["lake", "partner"]
        do(session, "DETACH partner")
        assert catalogs(session) == ["lake"]


def test_detaching_what_is_not_there(session: Session) -> None:
    assert error_of(session, "DETACH partner").code == "CATALOG_NOT_FOUND"


def test_a_bearer_token_reaches_the_wire(session: Session, proxy: Proxy) -> None:
    proxy.before = lambda asked: None if asked.authorization else Answer.error(401, "who are you?")
    attach = f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest"
    error = error_of(session, f"{attach})")
    assert error.code == "PERMISSION_DENIED"
    assert "SECRET name" in error.message
    do(session, "CREATE SECRET partner_tok (TYPE bearer, TOKEN 'eyJhbGciOi')")
    do(session, f"{attach}, SECRET partner_tok)")
    assert {asked.authorization for asked in proxy.asked[1:]} == {"Bearer eyJhbGciOi"}


def test_a_secret_in_use_stays(session: Session, rest_server: Facts) -> None:
    do(session, "CREATE SECRET partner_tok (TYPE bearer, TOKEN 'x')")
    do(session, f"ATTACH '{rest_server['uri']}' AS partner (TYPE iceberg_rest, SECRET partner_tok)")
    assert error_of(session, "DROP SECRET partner_tok").message == (
        "secret 'partner_tok' is referenced by attached catalogs: partner. DETACH the catalog first."
    )
    do(session, "DETACH partner")
    do(session, "DROP SECRET partner_tok")
    assert rows(session, "SHOW SECRETS") == []


# --- the wire ----------------------------------------------------------------------------------------------------


def test_attaching_takes_two_requests(session: Session, proxy: Proxy) -> None:
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest, WAREHOUSE 'analytics')")
    assert proxy.requests() == ["GET /v1/config?warehouse=analytics", "GET /v1/namespaces"]
    do(session, f"ATTACH '{proxy.uri}' AS later (TYPE iceberg_rest, VERIFY false)")
    assert len(proxy.asked) == 2


def test_nobody_in_particular_sends_no_token(session: Session, proxy: Proxy) -> None:
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest)")
    assert {asked.authorization for asked in proxy.asked} == {None}


def test_a_user_and_a_password(session: Session, proxy: Proxy) -> None:
    do(session, "CREATE SECRET me (TYPE basic, USERNAME 'ada', PASSWORD 'pässword')")
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest, SECRET me)")
    assert {asked.authorization for asked in proxy.asked} == {"Basic YWRhOnDDpHNzd29yZA=="}


def test_requests_are_signed_for_aws(session: Session, proxy: Proxy) -> None:
    do(session, "CREATE SECRET aws (TYPE aws, KEY_ID 'AKID', SECRET 'x', SESSION_TOKEN 'st', REGION 'eu-west-1')")
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest, SECRET aws, SIGNING_NAME 'glue')")
    for asked in proxy.asked:
        assert (asked.authorization or "").startswith("AWS4-HMAC-SHA256 Credential=AKID/")
        assert "/eu-west-1/glue/aws4_request" in (asked.authorization or "")
        assert asked.headers["x-amz-security-token"] == "st"


def test_a_client_fetches_its_token_once(session: Session, nessie_auth_server: Facts) -> None:
    with proxied(nessie_auth_server["uri"]) as proxy, proxied(nessie_auth_server["token_uri"]) as tokens:
        do(
            session,
            f"CREATE SECRET lab (TYPE oauth2, CLIENT_ID 'engine', CLIENT_SECRET 'engine-secret', "
            f"TOKEN_URI '{tokens.uri}', OAUTH_SCOPE 'openid')",
        )
        do(session, f"ATTACH '{proxy.uri}' AS lab (TYPE iceberg_rest, SECRET lab)")
        assert len(proxy.asked) + len(tokens.asked) == 3
        rows(session, "SHOW SCHEMAS IN lab")
        assert len(tokens.asked) == 1


def test_pages_are_all_read(session: Session, proxy: Proxy) -> None:
    def before(asked: Asked) -> Answer | None:
        if not asked.path.startswith("/v1/namespaces"):
            return None
        number = int(asked.path.partition("pageToken=")[2] or 0)
        page = {"namespaces": [[f"n{number}"]]}
        return Answer.of(200, {**page, "next-page-token": str(number + 1)} if number < 4 else page)

    proxy.before = before
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest)")
    assert [row[0] for row in rows(session, "SHOW SCHEMAS IN partner LIKE 'n%'")] == ["n0", "n1", "n2", "n3", "n4"]


def test_a_server_can_not_send_the_token_elsewhere_nor_choose_code(
    session: Session, proxy: Proxy, rest_server: Facts
) -> None:
    """What a server configures is limited to what concerns its own catalog."""

    def after(asked: Asked, answer: Answer) -> Answer:
        if "/v1/config" not in asked.path:
            return answer
        config = json.loads(answer.body)
        config["overrides"] |= {"uri": rest_server["uri"], "py-io-impl": "os.system", "header.X-Odd": "1", "token": "t"}
        return Answer.of(200, config)

    proxy.after = after
    name = new_name()
    do(session, "CREATE SECRET k (TYPE bearer, TOKEN 'mine')")
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest, SECRET k)")
    do(session, f"CREATE SCHEMA partner.{name}")
    do(session, f"CREATE TABLE partner.{name}.t AS SELECT 1 AS id")
    assert rows(session, f"SELECT id FROM partner.{name}.t") == [(1,)]
    assert {asked.authorization for asked in proxy.asked} == {"Bearer mine"}
    assert any(f"POST /v1/namespaces/{name}/tables/t" == request for request in proxy.requests())
    assert not any("x-odd" in asked.headers for asked in proxy.asked)


def test_vended_credentials_are_used(session: Session, s3_server: Facts, private_server: StartServer) -> None:
    """The keys of STORAGE_SECRET are wrong: what reads and writes are those that the server lends for the table."""
    keys = {"s3.access-key-id": s3_server["key_id"], "s3.secret-access-key": s3_server["secret"]}
    rest = private_server(
        "rest",
        **{
            "warehouse": f"s3://{s3_server['bucket']}/lent",
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "s3.endpoint": s3_server["uri"],
            "s3.path-style-access": "true",
            "client.region": s3_server["region"],
            **keys,
        },
    )

    def lend(asked: Asked, answer: Answer) -> Answer:
        content = json.loads(answer.body or b"{}")
        if "metadata" not in content or not asked.headers.get("x-iceberg-access-delegation"):
            return answer
        content["config"] = {
            **content.get("config", {}),
            "s3.endpoint": s3_server["uri"],
            "s3.region": s3_server["region"],
        }
        content["storage-credentials"] = [{"prefix": f"s3://{s3_server['bucket']}/lent", "config": keys}]
        return Answer.of(answer.status, content)

    with proxied(rest.facts["uri"]) as proxy:
        place = f"ENDPOINT '{s3_server['uri']}', REGION '{s3_server['region']}'"
        do(session, f"CREATE SECRET wrong (TYPE s3, KEY_ID 'nobody', SECRET 'knows', SESSION_TOKEN 'this', {place})")
        do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest, STORAGE_SECRET wrong)")
        do(session, "CREATE SCHEMA partner.s")
        error = error_of(session, "CREATE TABLE partner.s.t AS SELECT 1 AS id")
        assert error.code == "PERMISSION_DENIED", error
        proxy.after = lend
        do(session, "CREATE TABLE partner.s.u AS SELECT 1 AS id")
        do(session, "INSERT INTO partner.s.u VALUES (2)")
        assert in_order(rows(session, "SELECT id FROM partner.s.u")) == [(1,), (2,)]


# --- tokens ------------------------------------------------------------------------------------------------------


def test_a_token_that_has_ended_is_replaced(
    session: Session, nessie_auth_server: Facts, keycloak_server: Facts
) -> None:
    brief = token_of(keycloak_server, client="brief")
    do(session, f"CREATE SECRET tok (TYPE bearer, TOKEN '{brief}')")
    do(session, f"ATTACH '{nessie_auth_server['uri']}' AS lab (TYPE iceberg_rest, SECRET tok)")
    _wait_for_the_end_of(brief, nessie_auth_server)
    error = error_of(session, f"CREATE SCHEMA lab.{new_name()}")
    assert error.code == "PERMISSION_DENIED"
    assert "CREATE OR REPLACE SECRET tok" in error.message
    do(session, f"CREATE OR REPLACE SECRET tok (TYPE bearer, TOKEN '{token_of(keycloak_server)}')")
    do(session, f"CREATE SCHEMA lab.{new_name()}")


def _wait_for_the_end_of(token: str, nessie: Facts) -> None:
    import requests

    for _ in range(600):
        answer = requests.get(f"{nessie['uri']}/v1/config", headers={"Authorization": f"Bearer {token}"}, timeout=60)
        if answer.status_code == 401:
            return
        time.sleep(0.1)
    raise AssertionError("the token does not end")


def test_a_client_whose_token_has_ended_fetches_another(
    session: Session, nessie_auth_server: Facts, keycloak_server: Facts
) -> None:
    do(
        session,
        "CREATE SECRET lab (TYPE oauth2, CLIENT_ID 'brief', CLIENT_SECRET 'brief-secret', "
        f"TOKEN_URI '{nessie_auth_server['token_uri']}', OAUTH_SCOPE 'openid')",
    )
    do(session, f"ATTACH '{nessie_auth_server['uri']}' AS lab (TYPE iceberg_rest, SECRET lab)")
    _wait_for_the_end_of(token_of(keycloak_server, client="brief"), nessie_auth_server)
    do(session, f"CREATE SCHEMA lab.{new_name()}")


def test_a_client_that_is_refused(session: Session, nessie_auth_server: Facts) -> None:
    do(
        session,
        "CREATE SECRET lab (TYPE oauth2, CLIENT_ID 'engine', CLIENT_SECRET 'wr0ng', "
        f"TOKEN_URI '{nessie_auth_server['token_uri']}')",
    )
    error = error_of(session, f"ATTACH '{nessie_auth_server['uri']}' AS lab (TYPE iceberg_rest, SECRET lab)")
    assert error.code == "PERMISSION_DENIED"
    assert "token server refused client 'engine'" in error.message
    assert "wr0ng" not in str(error)


def test_each_user_sees_what_that_user_may(
    engine: Engine, nessie_auth_server: Facts, keycloak_server: Facts, moto_server: Facts
) -> None:
    """One mount, which passes tokens on: Nessie lets bob see what begins with `shared`."""
    private, shared = new_name("private"), new_name("shared")
    admin = engine.session(Identity("admin", token_of(keycloak_server, "alice"), frozenset({"admin"})))
    alice = engine.session(Identity("alice", token_of(keycloak_server, "alice")))
    bob = engine.session(Identity("bob", token_of(keycloak_server, "bob")))
    nobody = engine.session(Identity("nobody"))
    do(admin, store_secret(moto_server))
    common = "PASS_TOKEN true, VISIBILITY all, STORAGE_SECRET store"
    do(admin, f"ATTACH '{nessie_auth_server['uri']}' AS lab (TYPE iceberg_rest, {common})")
    for name in (private, shared):
        do(alice, f"CREATE SCHEMA lab.{name}")
        do(alice, f"CREATE TABLE lab.{name}.t AS SELECT 1 AS id")
        assert rows(alice, f"SELECT id FROM lab.{name}.t") == [(1,)]
    assert {private, shared} <= {row[0] for row in rows(alice, "SHOW SCHEMAS IN lab")}
    seen = {row[0] for row in rows(bob, "SHOW SCHEMAS IN lab")}
    assert shared in seen
    assert private not in seen
    assert rows(bob, f"SELECT id FROM lab.{shared}.t") == [(1,)]
    assert error_of(bob, f"SELECT id FROM lab.{private}.t").code in ("NAMESPACE_NOT_FOUND", "PERMISSION_DENIED")
    assert error_of(bob, f"INSERT INTO lab.{shared}.t VALUES (2)").code == "PERMISSION_DENIED"
    assert error_of(nobody, "SHOW SCHEMAS IN lab").code == "PERMISSION_DENIED"
    assert rows(alice, f"SELECT id FROM lab.{shared}.t") == [(1,)]
