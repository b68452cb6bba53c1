"""REST catalogs that are away, silent, overloaded or something else: typed errors, and nobody else is held up."""

from __future__ import annotations

import pytest

from pinakes.api.build import open_engine
from pinakes.core.config import CatalogConfig, Config
from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.support import do, rows
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, Asked, Proxy, closed_port, silent_port
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


@pytest.fixture
def table(session: Session, proxy: Proxy) -> str:
    """A table with one row, behind the proxy."""
    name = new_name()
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest, TIMEOUT 1)")
    do(session, f"CREATE SCHEMA partner.{name}")
    do(session, f"CREATE TABLE partner.{name}.t AS SELECT 1 AS id")
    return f"partner.{name}.t"


def error_of(session: Session, sql: str) -> PinakesError:
    with pytest.raises(PinakesError) as caught:
        do(session, sql)
    return caught.value


# --- away --------------------------------------------------------------------------------------------------------


def test_a_closed_port(session: Session) -> None:
    port = closed_port()
    error = error_of(session, f"ATTACH 'http://127.0.0.1:{port}' AS gone (TYPE iceberg_rest)")
    assert error.code == "CATALOG_UNAVAILABLE"
    assert f"127.0.0.1:{port} can't be reached: the connection was refused" in error.message


def test_a_silent_port(session: Session) -> None:
    with silent_port() as port:
        error = error_of(session, f"ATTACH 'http://127.0.0.1:{port}' AS mute (TYPE iceberg_rest, TIMEOUT 0.5)")
        assert error.code == "CATALOG_UNAVAILABLE"
        assert "no answer within 0.5 seconds" in error.message


def test_no_such_host(session: Session) -> None:
    error = error_of(session, "ATTACH 'http://nowhere.invalid/x' AS gone (TYPE iceberg_rest)")
    assert error.code == "CATALOG_UNAVAILABLE"
    assert "nowhere.invalid can't be reached" in error.message


def test_plain_http_where_tls_is_spoken_to(session: Session, rest_server: Facts) -> None:
    error = error_of(session, f"ATTACH '{rest_server['uri'].replace('http:', 'https:')}' AS tls (TYPE iceberg_rest)")
    assert error.code == "CATALOG_UNAVAILABLE"
    assert "TLS" in error.message


def test_what_is_away_holds_nobody_up(session: Session, rest_server: Facts) -> None:
    with silent_port() as port:
        for name, number in (("gone", closed_port()), ("mute", port)):
            do(session, f"ATTACH 'http://127.0.0.1:{number}' AS {name} (TYPE iceberg_rest, VERIFY false, TIMEOUT 0.5)")
        do(session, f"ATTACH '{rest_server['uri']}' AS partner (TYPE iceberg_rest)")
        assert [row[0] for row in rows(session, "SHOW CATALOGS")] == ["gone", "lake", "mute", "partner"]
        do(session, "CREATE TABLE lake.default.t AS SELECT 1 AS id")
        assert rows(session, "SELECT id FROM t") == [(1,)]
        rows(session, "SHOW SCHEMAS IN partner")
        for name in ("gone", "mute"):
            assert error_of(session, f"SHOW SCHEMAS IN {name}").code == "CATALOG_UNAVAILABLE"
            assert error_of(session, f"SELECT * FROM {name}.s.t").code == "CATALOG_UNAVAILABLE"
        assert rows(session, "SELECT id FROM t") == [(1,)]


def test_what_is_away_does_not_stop_the_start() -> None:
    away = {
        name: CatalogConfig(name, "iceberg_rest", f"http://127.0.0.1:{closed_port()}", {}) for name in ("one", "two")
    }
    with open_engine(Config(catalogs=away)) as engine:
        assert [row[0] for row in rows(engine.session(), "SHOW CATALOGS")] == ["lake", "one", "two"]


# --- something else ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(200, b"<html>hello</html>", {"Content-Type": "text/html"}), "CATALOG_UNAVAILABLE"),
        (Answer(404, b"<html>no</html>", {"Content-Type": "text/html"}), "CATALOG_UNAVAILABLE"),
        (Answer.error(404, "no such warehouse"), "CATALOG_UNAVAILABLE"),
        (Answer.of(200, ["x"]), "CATALOG_UNAVAILABLE"),
        (Answer(200, b"{", {"Content-Type": "application/json"}), "CATALOG_UNAVAILABLE"),
        (Answer(200, b"", {}), "CATALOG_UNAVAILABLE"),
        (Answer.error(500, "out of order"), "CATALOG_UNAVAILABLE"),
        (Answer(503, b"<html>down</html>", {"Content-Type": "text/html"}), "CATALOG_UNAVAILABLE"),
        (Answer(0, b"", {}), "CATALOG_UNAVAILABLE"),
        (Answer.error(401, "no"), "PERMISSION_DENIED"),
        (Answer.error(403, "no"), "PERMISSION_DENIED"),
    ],
)
def test_an_answer_that_no_catalog_gives(session: Session, proxy: Proxy, answer: Answer, code: str) -> None:
    proxy.before = lambda _: answer
    error = error_of(session, f"ATTACH '{proxy.uri}' AS odd (TYPE iceberg_rest, WAREHOUSE 'w')")
    assert error.code == code
    assert "127.0.0.1" in error.message
    assert "<html>" not in error.message
    assert [row[0] for row in rows(session, "SHOW CATALOGS")] == ["lake"]


@pytest.mark.parametrize(
    "location",
    ["", "somewhere", "ftp://host/x", "http://", "http://ada:s3cret@host/x", "https://host/x?sig=s3cret"],
)
def test_a_location_that_is_none(session: Session, location: str) -> None:
    error = error_of(session, f"ATTACH '{location}' AS odd (TYPE iceberg_rest)")
    assert error.code == "INVALID_ARGUMENT"
    assert "s3cret" not in str(error)


@pytest.mark.parametrize("options", ["TIMEOUT 0", "TIMEOUT 'soon'", "DEFAULT_NAMESPACE ''", "WAREHUOSE 'x'"])
def test_an_option_that_is_none(session: Session, proxy: Proxy, options: str) -> None:
    assert error_of(session, f"ATTACH '{proxy.uri}' AS odd (TYPE iceberg_rest, {options})").code in (
        "INVALID_ARGUMENT",
        "OPTION_NOT_FOUND",
    )


# --- overloaded --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_for_patience(session: Session, proxy: Proxy, status: int) -> None:
    def before(_: Asked) -> Answer | None:
        return Answer.error(status, "later", Retry_After="1") if len(proxy.asked) == 1 else None

    proxy.before = before
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest)")
    assert proxy.requests() == ["GET /v1/config", "GET /v1/config", "GET /v1/namespaces"]


def test_patience_ends(session: Session, proxy: Proxy) -> None:
    proxy.before = lambda _: Answer.error(503, "never")
    assert error_of(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest)").code == "CATALOG_UNAVAILABLE"
    assert len(proxy.asked) == 4


# --- commits -----------------------------------------------------------------------------------------------------


def is_commit(asked: Asked) -> bool:
    return asked.method == "POST" and "/tables/" in asked.path


def test_a_commit_whose_answer_is_lost(session: Session, proxy: Proxy, table: str) -> None:
    """The server did commit; the client can't know. The rows' files stay, and it is said once."""

    def lose(asked: Asked, answer: Answer) -> Answer:
        return Answer(0, b"", {}) if is_commit(asked) else answer

    before = len(proxy.asked)
    proxy.after = lose
    assert error_of(session, f"INSERT INTO {table} VALUES (2)").code == "COMMIT_UNKNOWN"
    assert sum(is_commit(asked) for asked in proxy.asked[before:]) == 1
    proxy.after = lambda _, answer: answer
    assert sorted(rows(session, f"SELECT id FROM {table}")) == [(1,), (2,)]


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_commit_that_ends_in_an_error_of_the_server(session: Session, proxy: Proxy, table: str, status: int) -> None:
    proxy.before = lambda asked: Answer.error(status, "oops") if is_commit(asked) else None
    before = len(proxy.asked)
    assert error_of(session, f"INSERT INTO {table} VALUES (2)").code == "COMMIT_UNKNOWN"
    assert sum(is_commit(asked) for asked in proxy.asked[before:]) == 1
    proxy.before = lambda _: None
    assert rows(session, f"SELECT id FROM {table}") == [(1,)]


def test_a_commit_that_is_refused(session: Session, proxy: Proxy, table: str) -> None:
    proxy.before = lambda asked: Answer.error(403, "not you") if is_commit(asked) else None
    error = error_of(session, f"INSERT INTO {table} VALUES (2)")
    assert error.code == "PERMISSION_DENIED"
    assert "not you" in error.message
    proxy.before = lambda _: None
    assert rows(session, f"SELECT id FROM {table}") == [(1,)]


def test_a_denied_request_of_nessie(session: Session, proxy: Proxy) -> None:
    """Nessie 0.99 answers it with 500."""
    proxy.before = lambda _: Answer.error(500, "org.projectnessie.services.authz.AccessCheckException: no")
    assert error_of(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest)").code == "PERMISSION_DENIED"


def test_a_server_without_views_does_not_claim_them(session: Session, proxy: Proxy) -> None:
    proxy.before = lambda asked: Answer.of(200, {"defaults": {}, "overrides": {}}) if "config" in asked.path else None
    name = new_name()
    do(session, f"ATTACH '{proxy.uri}' AS partner (TYPE iceberg_rest)")
    do(session, f"CREATE SCHEMA partner.{name}")
    error = error_of(session, f"CREATE VIEW partner.{name}.v AS SELECT 1 AS id")
    assert error.code == "NOT_SUPPORTED"
    assert "does not support views" in error.message
