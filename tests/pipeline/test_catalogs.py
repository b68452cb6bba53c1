"""Each catalog that is mounted here is the same catalog on Spark, by the same credentials, which nobody else sees."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from urllib.request import ProxyHandler, build_opener
from uuid import uuid4

import psycopg
import pytest

from pinakes.api.build import open_engine
from pinakes.core.errors import NotSupportedError, PinakesError
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.engine.support import rows
from tests.pipeline.conftest import config_of
from tests.providers.kinds import KINDS, attached, new_name, store_secret
from tests.servers.base import Facts

pytestmark = pytest.mark.slow


def round_trip(session: Session, catalog: str, schema: str = "ns") -> None:
    """Made here, changed there, read on both sides; and made there."""
    place = f"{catalog}.{schema}"
    session.run(f"CREATE SCHEMA IF NOT EXISTS {place}").read_all()
    session.run(f"DROP TABLE IF EXISTS {place}.t").read_all()
    session.run(f"CREATE TABLE {place}.t AS SELECT 1 AS k, 'here' AS w").read_all()
    session.run(f"INSERT /*+ ENGINE(spark) */ INTO {place}.t SELECT k + 1, 'there' FROM {place}.t").read_all()
    expected = [(1, "here"), (2, "there")]
    assert rows(session, f"SELECT k, w FROM {place}.t ORDER BY k") == expected
    assert rows(session, f"SELECT /*+ ENGINE(spark) */ k, w FROM {place}.t ORDER BY k") == expected
    session.run(f"CREATE OR REPLACE TABLE /*+ ENGINE(spark) */ {place}.made AS SELECT * FROM {place}.t").read_all()
    assert rows(session, f"SELECT k, w FROM {place}.made ORDER BY k") == expected


def test_sqlite_by_the_name_that_its_rows_carry(engine: Engine, tmp_path: Path) -> None:
    session = engine.session()
    session.run(f"ATTACH '{tmp_path}/a' AS mine (TYPE sqlite, CATALOG_NAME 'theirs')").read_all()
    round_trip(session, "mine")
    session.run("DETACH mine").read_all()
    session.run(f"ATTACH '{tmp_path}/b' AS mine (TYPE sqlite, CATALOG_NAME 'theirs')").read_all()
    round_trip(session, "mine")
    session.run(f"ATTACH '{tmp_path}/a' AS first (TYPE sqlite, CATALOG_NAME 'theirs')").read_all()
    with pytest.raises(NotSupportedError, match="'theirs'"):
        session.run("SELECT /*+ ENGINE(spark) */ * FROM mine.ns.t JOIN first.ns.t USING (k)").read_all()


NOT_THERE = {
    "glue": ("Glue at an address of its own", "keys of a secret can't be told to Iceberg's client for Glue"),
    "s3tables": ("404", "moto has no Iceberg REST protocol for S3 Tables"),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_type(spark_connect_server: Facts, tmp_path: Path, request: pytest.FixtureRequest, name: str) -> None:
    kind = KINDS[name]
    facts = request.getfixturevalue(f"{kind.server}_server") if kind.server else {}
    store = [store_secret(request.getfixturevalue(f"{kind.store}_server"))] if kind.store else []
    with open_engine(config_of(spark_connect_server)) as engine:
        session = attached(engine, [*store, *kind.attach(facts, tmp_path)])
        told, _ = NOT_THERE.get(name, ("", ""))
        with pytest.raises(PinakesError, match=told) if told else nullcontext():
            round_trip(session, "cat", new_name("spark"))


def test_postgres_and_its_password(
    engine: Engine, tmp_path: Path, postgres_server: Facts, spark_connect_server: Facts
) -> None:
    session = engine.session()
    facts = postgres_server
    user, password = f"u_{uuid4().hex[:8]}", uuid4().hex  # a word that stands nowhere else
    with psycopg.connect(facts["uri"], autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {user} SUPERUSER LOGIN PASSWORD '{password}'")
    session.run(f"CREATE SECRET pg (TYPE basic, USERNAME '{user}', PASSWORD '{password}')").read_all()
    host = f"{facts['host']}:{facts['port']}/{facts['database']}"
    session.run(
        f"ATTACH 'postgresql://{host}' AS pg (TYPE jdbc, SECRET pg, WAREHOUSE '{tmp_path}', CATALOG_NAME 'both')"
    ).read_all()
    round_trip(session, "pg")
    assert_not_told(password, spark_connect_server)


def assert_not_told(secret: str, facts: Facts) -> None:
    """Neither by Spark's web interface nor in a file that it writes."""
    opener = build_opener(ProxyHandler({}))
    api = f"{facts['ui']}/api/v1/applications"

    application = json.load(opener.open(api, timeout=30))[0]["id"]
    for page in (
        f"{api}/{application}/sql?length=1000&details=true",
        f"{api}/{application}/environment",
        f"{facts['ui']}/SQL/",
    ):
        assert secret.encode() not in opener.open(page, timeout=60).read()
    for file in Path(facts["spool"]).parent.rglob("*"):
        if file.is_file() and file.stat().st_size < 10_000_000:
            assert secret.encode() not in file.read_bytes()


def test_what_is_confined_to_directories_stays_here(spark_connect_server: Facts, tmp_path: Path) -> None:
    config = config_of(spark_connect_server)
    confined = replace(config, engine=replace(config.engine, allowed_paths=(str(tmp_path),)))
    with open_engine(confined) as engine:
        session = engine.session()
        session.run(f"ATTACH '{tmp_path}/c' AS own (TYPE sqlite)").read_all()
        session.run("CREATE SCHEMA own.ns").read_all()
        session.run("CREATE TABLE own.ns.t AS SELECT 1 AS k").read_all()
        with pytest.raises(NotSupportedError, match="directories"):
            session.run("SELECT /*+ ENGINE(spark) */ k FROM own.ns.t").read_all()
        session.run("CREATE TABLE lake.default.t AS SELECT 1 AS k").read_all()
        assert rows(session, "SELECT /*+ ENGINE(spark) */ k FROM lake.default.t") == [(1,)]
