"""Secrets of catalogs: a planted value shows nowhere, whether the catalog works or fails, and however much is logged.

`tests/engine/test_secrets_masked.py` does the same for the texts of statements.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from pinakes.core.errors import PinakesError
from pinakes.core.identity import Identity
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import an_engine, rows
from tests.engine.test_secrets_masked import cached, forms
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, Asked, Proxy, closed_port, proxied
from tests.servers.base import Facts

PLANTED = "hunter2zQ9"
pytestmark = pytest.mark.slow

SECRETS = {
    "bearer": f"TYPE bearer, TOKEN '{PLANTED}'",
    "basic": f"TYPE basic, USERNAME 'ada', PASSWORD '{PLANTED}'",
    "oauth2": f"TYPE oauth2, CLIENT_ID 'engine', CLIENT_SECRET '{PLANTED}', TOKEN_URI '{{uri}}/token'",
    "aws": f"TYPE aws, KEY_ID 'AKIA{PLANTED}', SECRET '{PLANTED}', SESSION_TOKEN '{PLANTED}', REGION 'us-east-1'",
    "s3": f"TYPE s3, KEY_ID 'AKIA{PLANTED}', SECRET '{PLANTED}', SESSION_TOKEN '{PLANTED}', REGION 'us-east-1', "
    "ENDPOINT '{uri}'",
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with an_engine() as engine:
        yield engine


class Places:
    """Everywhere that text is kept or shown."""

    def __init__(self, engine: Engine, session: Session, log: pytest.LogCaptureFixture) -> None:
        self.engine, self.session, self.log = engine, session, log
        self.texts: dict[str, str] = {}
        log.set_level(logging.DEBUG)
        for name in list(logging.root.manager.loggerDict):
            if isinstance(logger := logging.getLogger(name), logging.Logger) and logger.level:
                log.set_level(logging.DEBUG, name)

    def run(self, sql: str) -> str | None:
        """Carry out a statement; the code of its error."""
        try:
            shown = rows(self.session, sql)
        except PinakesError as error:
            self.texts |= {f"{what} of {sql[:40]}": text for what, text in forms(error).items()}
            return error.code
        if not sql.startswith("CREATE SECRET"):
            self.texts[f"rows of {sql[:40]}"] = repr(shown)
        return None

    def search(self) -> None:
        engine = self.engine
        self.texts["tracker"] = "\n".join(repr(info) for info in engine.tracker.snapshot())
        self.texts["log"] = "\n".join(
            f"{r.name} {r.getMessage()} {r.args!r} {r.exc_text} {r.exc_info!r}" for r in self.log.records
        )
        self.texts["cache"] = cached(engine)
        self.texts["mounts"] = "\n".join(repr(mount) for mount in engine.registry.everything())
        self.texts["secrets"] = repr(rows(self.session, "SHOW SECRETS"))
        self.texts["session"] = (
            repr(rows(self.session, "SHOW SESSION")) + repr(self.session) + repr(self.session.identity)
        )
        for mount in engine.registry.everything():
            if mount.is_open:
                self.texts[f"objects of {mount.name}"] = "\n".join(_reprs(mount.catalog_for(self.session.identity)))
        for place, text in self.texts.items():
            assert PLANTED not in text, f"{place}: {text[max(0, text.index(PLANTED) - 300) :][:600]}"


def _reprs(catalog: object, depth: int = 5) -> Iterator[str]:
    """What a debugger or a log line would show of a catalog and of all that it holds; not the values themselves."""
    yield repr(catalog)
    if depth and type(catalog).__module__.startswith(("pinakes", "pyiceberg")):
        for value in getattr(catalog, "__dict__", {}).values():
            if not isinstance(value, str | bytes | bytearray | dict | list | tuple | set):
                yield from _reprs(value, depth - 1)


def work_through(places: Places, secrets: Sequence[str], attach: str, *, works: bool) -> None:
    """A user's day with a catalog."""
    for secret in secrets:
        assert places.run(secret) is None
    code = places.run(attach)
    assert (code is None) == works, code
    name = new_name()
    if not works:
        assert places.run(f"{attach[:-1]}, VERIFY false)") is None
    for sql in (
        "SHOW SCHEMAS IN cat",
        f"CREATE SCHEMA cat.{name}",
        f"CREATE TABLE cat.{name}.t AS SELECT 1 AS id",
        f"INSERT INTO cat.{name}.t VALUES (2)",
        f"SELECT * FROM cat.{name}.t",
        f"EXPLAIN SELECT * FROM cat.{name}.t",
        f"SHOW CREATE TABLE cat.{name}.t",
        f"DESCRIBE cat.{name}.t",
        f"SELECT * FROM cat.{name}.missing",
        f"DROP TABLE cat.{name}.t",
        "SHOW CATALOGS",
        "DROP SECRET k",
    ):
        places.run(sql)
    places.search()


def secret(kind: str, uri: str, name: str = "k") -> str:
    return f"CREATE SECRET {name} ({SECRETS[kind].replace('{uri}', uri)})"


# --- REST --------------------------------------------------------------------------------------------------------


@pytest.fixture
def proxy(rest_server: Facts) -> Iterator[Proxy]:
    """It has a token endpoint beside the catalog, which gives a token with the value in it."""
    with proxied(rest_server["uri"]) as proxy:
        proxy.before = tokens
        yield proxy


def tokens(asked: Asked) -> Answer | None:
    given = {"access_token": f"tok-{PLANTED}", "token_type": "bearer", "expires_in": 300}
    return Answer.of(200, given) if asked.path.endswith("/token") else None


def repeats(asked: Asked) -> Answer | None:
    """A server that repeats what it was sent, as some do in their errors."""
    sent = f"{asked.headers} {asked.body.decode(errors='replace')}"
    return Answer.error(401, f"refused: {sent}")


def breaks(_: Asked) -> Answer | None:
    return Answer(0, b"", {})


def pages(asked: Asked) -> Answer | None:
    return Answer(500, f"<html>{asked.headers}</html>".encode(), {"Content-Type": "text/html"})


@pytest.mark.parametrize("answers", [tokens, repeats, breaks, pages])
@pytest.mark.parametrize("kind", ["bearer", "basic", "oauth2", "aws"])
def test_a_rest_catalog(
    engine: Engine, proxy: Proxy, caplog: pytest.LogCaptureFixture, kind: str, answers: Callable[[Asked], Answer | None]
) -> None:
    proxy.before = answers
    attach = f"ATTACH '{proxy.uri}' AS cat (TYPE iceberg_rest, SECRET k, STORAGE_SECRET s, TIMEOUT 5)"
    secrets = [secret(kind, proxy.uri), secret("s3", proxy.uri, "s")]
    work_through(Places(engine, engine.session(), caplog), secrets, attach, works=answers is tokens)
    if answers is tokens:
        sent = " ".join(str(asked.headers) for asked in proxy.asked)
        assert PLANTED in sent or kind == "basic", "the value did go out"


@pytest.mark.parametrize("answers", [tokens, repeats])
def test_a_token_that_is_passed_on(
    engine: Engine, proxy: Proxy, caplog: pytest.LogCaptureFixture, answers: Callable[[Asked], Answer | None]
) -> None:
    proxy.before = answers
    session = engine.session(Identity("ada", f"tok-{PLANTED}"))
    attach = f"ATTACH '{proxy.uri}' AS cat (TYPE iceberg_rest, PASS_TOKEN true)"
    work_through(Places(engine, session, caplog), [], attach, works=answers is tokens)


@pytest.mark.parametrize("value", [f"{PLANTED}\n", f"{PLANTED} x", f"{PLANTED}ü"])
def test_a_token_that_can_not_stand_in_a_header(
    engine: Engine, proxy: Proxy, caplog: pytest.LogCaptureFixture, value: str
) -> None:
    places = Places(engine, engine.session(), caplog)
    places.run(f"CREATE SECRET k (TYPE bearer, TOKEN '{value}')")
    assert places.run(f"ATTACH '{proxy.uri}' AS cat (TYPE iceberg_rest, SECRET k)") == "INVALID_ARGUMENT"
    places.search()


# --- the others --------------------------------------------------------------------------------------------------


def test_catalogs_on_aws_that_work(engine: Engine, moto_server: Facts, caplog: pytest.LogCaptureFixture) -> None:
    attach = (
        f"ATTACH '{moto_server['uri']}' AS cat (TYPE glue, WAREHOUSE 's3://{moto_server['bucket']}/masked', SECRET k)"
    )
    work_through(Places(engine, engine.session(), caplog), [secret("aws", "")], attach, works=True)


@pytest.mark.parametrize("type", ["glue", "s3tables"])
@pytest.mark.parametrize("answers", [repeats, breaks, pages])
def test_catalogs_on_aws_that_fail(
    engine: Engine,
    moto_server: Facts,
    caplog: pytest.LogCaptureFixture,
    type: str,
    answers: Callable[[Asked], Answer | None],
) -> None:
    with proxied(moto_server["uri"]) as proxy:
        proxy.before = answers if answers is not repeats else repeats_as_aws
        location = "" if type == "glue" else "arn:aws:s3tables:us-east-1:123456789012:bucket/b"
        attach = f"ATTACH '{location}' AS cat (TYPE {type}, ENDPOINT '{proxy.uri}', SECRET k, TIMEOUT 2)"
        work_through(Places(engine, engine.session(), caplog), [secret("aws", "")], attach, works=False)


def repeats_as_aws(asked: Asked) -> Answer | None:
    """AWS shows the whole signed request when a signature is wrong, session token included."""
    return Answer.of(403, {"__type": "InvalidSignatureException", "message": f"should have been {asked.headers}"})


def test_storage_that_refuses(
    engine: Engine, s3_server: Facts, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    places = Places(engine, engine.session(), caplog)
    places.run(secret("s3", s3_server["uri"]))
    attach = (
        f"ATTACH '{tmp_path / 'x.db'}' AS cat (TYPE sqlite, WAREHOUSE 's3://{s3_server['bucket']}/x', STORAGE_SECRET k)"
    )
    assert places.run(attach) is None
    assert places.run("CREATE SCHEMA cat.s") is None
    assert places.run("CREATE TABLE cat.s.t AS SELECT 1 AS id") == "PERMISSION_DENIED"
    places.search()


@pytest.mark.parametrize(
    ("attach", "code"),
    [
        ("ATTACH 'postgresql://ada:{s}@127.0.0.1:{p}/db' AS cat (TYPE jdbc, CONNECT_TIMEOUT 2)", "CATALOG_UNAVAILABLE"),
        ("ATTACH 'mysql://ada:{s}@127.0.0.1:{p}/db' AS cat (TYPE jdbc, CONNECT_TIMEOUT 2)", "CATALOG_UNAVAILABLE"),
        ("ATTACH 'http://ada:{s}@127.0.0.1:{p}/x' AS cat (TYPE iceberg_rest)", "INVALID_ARGUMENT"),
        ("ATTACH 'http://127.0.0.1:{p}/x?sig={s}' AS cat (TYPE iceberg_rest)", "INVALID_ARGUMENT"),
        ("ATTACH 'thrift://ada:{s}@127.0.0.1:{p}' AS cat (TYPE hms)", "INVALID_ARGUMENT"),
    ],
)
def test_a_value_in_a_location(engine: Engine, caplog: pytest.LogCaptureFixture, attach: str, code: str) -> None:
    places = Places(engine, engine.session(), caplog)
    assert places.run(attach.replace("{s}", PLANTED).replace("{p}", str(closed_port()))) == code
    places.search()


def test_the_search_finds_what_it_looks_for(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    places = Places(engine, engine.session(), caplog)
    logging.getLogger("urllib3.connectionpool").debug("GET /?token=%s", PLANTED)
    with pytest.raises(AssertionError, match="log: urllib3"):
        places.search()
