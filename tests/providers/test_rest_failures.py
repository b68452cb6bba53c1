"""REST catalogs that are away, silent, overloaded or something else: typed errors, and nobody else is held up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import CatalogConfig, Config
from pinakes.core.errors import PinakesError
from pinakes.core.names import Name
from pinakes.engine.iceberg.write import commit as commit_module
from pinakes.engine.session import Session
from tests.engine.support import do, rows
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, Asked, Proxy, closed_port, proxied, silent_port
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
        assert [row[0] for row in rows(session, "SHOW CATALOGS")] == ["gone", "lake", "mute", "partner", "system"]
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
        assert [row[0] for row in rows(engine.session(), "SHOW CATALOGS")] == ["lake", "one", "system", "two"]


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
    assert [row[0] for row in rows(session, "SHOW CATALOGS")] == ["lake", "system"]


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
    """The server did commit: that is found out by looking, and nothing is done twice."""

    def lose(asked: Asked, answer: Answer) -> Answer:
        return Answer(0, b"", {}) if is_commit(asked) else answer

    before = len(proxy.asked)
    proxy.after = lose
    assert do(session, f"INSERT INTO {table} VALUES (2)") == 1
    assert sum(is_commit(asked) for asked in proxy.asked[before:]) == 1
    proxy.after = lambda _, answer: answer
    assert sorted(rows(session, f"SELECT id FROM {table}")) == [(1,), (2,)]


def test_a_commit_after_which_nobody_answers_any_more(session: Session, proxy: Proxy, table: str) -> None:
    """The rows' files stay, since they are part of the table, as is seen later."""
    committed = []

    def lose(asked: Asked, answer: Answer) -> Answer:
        committed.append(is_commit(asked))
        return Answer(0, b"", {}) if any(committed) else answer

    proxy.after = lose
    assert error_of(session, f"INSERT INTO {table} VALUES (2)").code == "COMMIT_UNKNOWN"
    proxy.after = lambda _, answer: answer
    assert sorted(rows(session, f"SELECT id FROM {table}")) == [(1,), (2,)]


def test_a_catalog_that_is_gone_between_writing_and_committing(
    session: Session, rest_server: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was sent, so nothing has happened: the files are removed at once."""
    name = new_name()
    with proxied(rest_server["uri"]) as proxy:
        do(session, f"ATTACH '{proxy.uri}' AS gone (TYPE iceberg_rest, TIMEOUT 1)")
        do(session, f"CREATE SCHEMA gone.{name}")
        do(session, f"CREATE TABLE gone.{name}.t AS SELECT 1 AS id")
        place = Path(
            session.resolver.table(Name.of("gone", name, "t"))[1].handle.metadata.location.removeprefix("file:")
        )
        before = {path.name for path in place.rglob("*.parquet")}
        theirs = commit_module._compare_and_set

        def gone(transaction: Any) -> None:
            proxy.close()
            transaction._table.catalog._session.close()  # a connection that is open would still be served
            theirs(transaction)

        monkeypatch.setattr(commit_module, "_compare_and_set", gone)
        assert error_of(session, f"INSERT INTO gone.{name}.t VALUES (2)").code == "CATALOG_UNAVAILABLE"
    do(session, f"ATTACH '{rest_server['uri']}' AS back (TYPE iceberg_rest)")
    assert rows(session, f"SELECT id FROM back.{name}.t") == [(1,)]
    assert {path.name for path in place.rglob("*.parquet")} == before
    assert before


def test_a_transaction_that_the_server_leaves_out(session: Session, proxy: Proxy, table: str) -> None:
    """Iceberg's own adapter does so when somebody else is faster between its look at a table and its commit."""
    place = Path(session.resolver.table(Name.of(*table.split(".")))[1].handle.metadata.location.removeprefix("file:"))
    before = {path.name for path in place.rglob("*.parquet")}
    do(session, "BEGIN")
    do(session, f"INSERT INTO {table} VALUES (2)")
    proxy.before = lambda asked: Answer(204, b"") if asked.path.endswith("/transactions/commit") else None
    error = error_of(session, "COMMIT")
    proxy.before = lambda _: None
    assert error.code == "COMMIT_UNKNOWN"
    assert "check before you repeat it: the server said that it was, and its changes are not in" in error.message
    assert rows(session, f"SELECT id FROM {table}") == [(1,)]
    assert {path.name for path in place.rglob("*.parquet")} > before, "they may be live for all that is known"


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
