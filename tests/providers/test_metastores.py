"""Glue, S3 Tables and Hive metastores where they fail: out of reach, refused, an answer lost, a package missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from pinakes.core.errors import NotSupportedError, PinakesError
from pinakes.engine.session import Session
from pinakes.providers.registry import open_catalog
from tests.engine.support import an_engine, do, in_order, rows
from tests.providers.kinds import new_name
from tests.providers.proxy import Answer, Asked, Proxy, closed_port, losing_answers, proxied, silent_port
from tests.servers.base import Facts

pytestmark = pytest.mark.slow
ARN = "arn:aws:s3tables:us-east-1:123456789012:bucket/gone"


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        session = engine.session()
        do(session, "CREATE SECRET k (TYPE aws, KEY_ID 'testing', SECRET 'testing12', REGION 'us-east-1')")
        yield session


def error_of(session: Session, sql: str) -> PinakesError:
    with pytest.raises(PinakesError) as caught:
        do(session, sql)
    return caught.value


# --- out of reach ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attach",
    [
        "ATTACH '' AS cat (TYPE glue, ENDPOINT 'http://127.0.0.1:{port}', SECRET k, TIMEOUT 1)",
        f"ATTACH '{ARN}' AS cat (TYPE s3tables, ENDPOINT 'http://127.0.0.1:{{port}}', SECRET k, TIMEOUT 1)",
        "ATTACH 'thrift://127.0.0.1:{port}' AS cat (TYPE hms, TIMEOUT 1)",
    ],
)
def test_nobody_there_or_nobody_speaks(session: Session, attach: str) -> None:
    assert error_of(session, attach.replace("{port}", str(closed_port()))).code == "CATALOG_UNAVAILABLE"
    with silent_port() as port:
        assert error_of(session, attach.replace("{port}", str(port))).code == "CATALOG_UNAVAILABLE"
    assert [row[0] for row in rows(session, "SHOW CATALOGS")] == ["lake", "system"]


def test_a_table_bucket_that_is_not_there(session: Session, moto_server: Facts) -> None:
    error = error_of(session, f"ATTACH '{ARN}' AS cat (TYPE s3tables, ENDPOINT '{moto_server['uri']}', SECRET k)")
    assert error.code == "NOT_FOUND"
    assert "bucket" in error.message


@pytest.mark.parametrize(
    ("type", "location"),
    [("glue", "somewhere"), ("s3tables", "bucket"), ("hms", "http://host:1"), ("hms", ""), ("hms", "thrift://h:x")],
)
def test_a_location_that_is_none(session: Session, type: str, location: str) -> None:
    error = error_of(session, f"ATTACH '{location}' AS cat (TYPE {type})")
    assert error.code == "INVALID_ARGUMENT"
    assert "location" in error.message


def test_a_secret_of_the_wrong_type(session: Session) -> None:
    do(session, "CREATE SECRET b (TYPE bearer, TOKEN 'x')")
    error = error_of(session, "ATTACH '' AS cat (TYPE glue, REGION 'us-east-1', SECRET b)")
    assert "secret 'b' is of type bearer; this catalog takes: aws" in error.message
    assert error_of(session, "ATTACH 'thrift://127.0.0.1:1' AS cat (TYPE hms, SECRET b)").code == "INVALID_ARGUMENT"


# --- a package that is missing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "location", "package", "install"),
    [
        ("glue", "", "boto3", "pip install 'pinakes[aws]'"),
        ("s3tables", ARN, "boto3", "pip install 'pinakes[aws]'"),
        ("hms", "thrift://127.0.0.1:1", "thrift", "pip install 'pinakes[hive]'"),
    ],
)
def test_a_missing_package(
    monkeypatch: pytest.MonkeyPatch, type: str, location: str, package: str, install: str
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == package or n.endswith((".hive", ".hms_client"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotSupportedError) as caught:
        open_catalog(type, "cat", location, {})
    assert install in caught.value.message


# --- Glue: commits -----------------------------------------------------------------------------------------------


@pytest.fixture
def proxy(moto_server: Facts) -> Iterator[Proxy]:
    with proxied(moto_server["uri"]) as proxy:
        yield proxy


@pytest.fixture
def table(session: Session, proxy: Proxy, moto_server: Facts) -> str:
    name = new_name()
    place = f"WAREHOUSE 's3://{moto_server['bucket']}/{name}', S3_ENDPOINT '{moto_server['uri']}'"
    do(session, f"ATTACH '' AS cat (TYPE glue, ENDPOINT '{proxy.uri}', {place}, SECRET k, TIMEOUT 5)")
    do(session, f"CREATE SCHEMA cat.{name}")
    do(session, f"CREATE TABLE cat.{name}.t AS SELECT 1 AS id")
    return f"cat.{name}.t"


def action(asked: Asked) -> str:
    return asked.headers.get("x-amz-target", "").rpartition(".")[2]


def conflict(asked: Asked) -> Answer:
    return Answer.of(400, {"__type": "ConcurrentModificationException", "message": "somebody was faster"})


def test_a_conflict_is_done_again(session: Session, proxy: Proxy, table: str) -> None:
    told: list[Asked] = []

    def before(asked: Asked) -> Answer | None:
        if action(asked) != "UpdateTable" or told:
            return None
        told.append(asked)
        return conflict(asked)

    proxy.before = before
    do(session, f"INSERT INTO {table} VALUES (2)")
    assert told
    assert in_order(rows(session, f"SELECT id FROM {table}")) == [(1,), (2,)]


def test_a_lost_answer_that_comes_back_as_a_conflict_is_a_success(session: Session, proxy: Proxy, table: str) -> None:
    """boto3 sends a request again when no answer came; Glue then finds the table changed: by the first one."""
    updates: list[Asked] = []

    def before(asked: Asked) -> Answer | None:
        return conflict(asked) if action(asked) == "UpdateTable" and updates else None

    def after(asked: Asked, answer: Answer) -> Answer:
        if action(asked) != "UpdateTable":
            return answer
        updates.append(asked)
        return Answer(0, b"", {})

    proxy.before, proxy.after = before, after
    do(session, f"INSERT INTO {table} VALUES (2)")
    proxy.before, proxy.after = lambda _: None, lambda _, answer: answer
    assert len(updates) == 1
    assert in_order(rows(session, f"SELECT id FROM {table}")) == [(1,), (2,)]


def test_a_commit_without_an_answer_is_unknown(session: Session, proxy: Proxy, table: str) -> None:
    begun: list[Asked] = []

    def before(asked: Asked) -> Answer | None:
        if action(asked) == "UpdateTable":
            begun.append(asked)
        return Answer(0, b"", {}) if begun else None

    proxy.before = before
    assert error_of(session, f"INSERT INTO {table} VALUES (2)").code == "COMMIT_UNKNOWN"
    proxy.before = lambda _: None
    assert rows(session, f"SELECT id FROM {table}") == [(1,)]


def test_keys_that_are_refused(session: Session, proxy: Proxy, table: str) -> None:
    proxy.before = lambda _: Answer.of(400, {"__type": "UnrecognizedClientException", "message": "no"})
    error = error_of(session, f"INSERT INTO {table} VALUES (2)")
    assert error.code == "PERMISSION_DENIED"
    assert "CREATE OR REPLACE SECRET" in error.message


# --- Hive: commits -----------------------------------------------------------------------------------------------


def test_a_commit_whose_answer_is_lost(session: Session, hive_server: Facts) -> None:
    """The metastore did commit, and nobody said so: the table is looked at, and tells."""
    name = new_name()
    warehouse = f"WAREHOUSE '{hive_server['warehouse']}', TIMEOUT 10"
    do(session, f"ATTACH '{hive_server['uri']}' AS sound (TYPE hms, {warehouse})")
    do(session, f"CREATE SCHEMA sound.{name}")
    do(session, f"CREATE TABLE sound.{name}.t AS SELECT 1 AS id")
    with losing_answers(hive_server["uri"], b"alter_table_with_environment_context") as uri:
        do(session, f"ATTACH '{uri}' AS cat (TYPE hms, {warehouse})")
        assert rows(session, f"SELECT id FROM cat.{name}.t") == [(1,)]
        do(session, f"INSERT INTO cat.{name}.t VALUES (2)")
    assert in_order(rows(session, f"SELECT id FROM sound.{name}.t")) == [(1,), (2,)]
