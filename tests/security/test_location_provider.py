"""Finding 1: a table property named the class that chooses where files go; pyiceberg imported and called it."""

from __future__ import annotations

from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pytest

from pinakes.core.errors import InvalidArgument
from tests.engine.support import do, rows
from tests.flight.identities import asked, configured, with_token
from tests.security.rogue import (
    ADMIN,
    NAME,
    an_engine_of,
    loaded,
    planted,
    rogue_catalog,
    session_of,
    table_at,
    with_properties,
)

IMPL = "write.py-location-provider.impl"


@pytest.mark.slow
def test_the_attack_on_a_real_server_is_refused(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    toml = '[server]\nadministrators = ["ann"]\n[server.tokens]\nann = "a"\neve = "e"\n[access]\neverybody_may = []\n'
    code = f'__import__("os").system("touch {mark}")#://x'
    create = f"CREATE TABLE lake.default.x (a int) LOCATION '{code}' WITH ('{IMPL}'='builtins.exec')"
    with configured(tmp_path, toml) as server:
        for sql in (create, create.replace(IMPL, "harmless"), f"{create.partition(' WITH')[0]}"):
            for user in (with_token("e"), with_token("a")):
                with pytest.raises(adbc.Error, match="INVALID_ARGUMENT"):
                    asked(server, sql, **user)
    assert not mark.exists()


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE x (a int) WITH ('{impl}' = '{name}')",
        "CREATE TABLE x WITH ('{impl}' = '{name}') AS SELECT 1 AS a",
        "CREATE OR REPLACE TABLE t (a int) TBLPROPERTIES ('{impl}' = '{name}')",
        "CREATE TABLE x (LIKE t) WITH ('{impl}' = '{name}')",
        "ALTER TABLE t SET TBLPROPERTIES ('{impl}' = '{name}')",
        "ALTER TABLE t SET PROPERTIES ('{impl}' = '{name}')",
        "CREATE SCHEMA q WITH ('{impl}' = '{name}')",
    ],
)
def test_a_statement_that_names_a_class_is_refused(sql: str, served: bool, tmp_path: Path) -> None:
    with an_engine_of(tmp_path, served=served) as engine:
        session = session_of(engine)
        do(session, "CREATE TABLE t (a int)")
        for key in (IMPL, IMPL.upper(), "py-io-impl", "io-impl", "write.location-provider.impl", "DEFAULT_SCHEME"):
            with pytest.raises(InvalidArgument, match="names a class"):
                do(session, sql.format(impl=key, name=NAME))
        do(session, "ALTER TABLE t SET TBLPROPERTIES ('my.own' = 'x', 'owner' = 'eve')")
        do(session, "INSERT INTO t VALUES (1)")
    assert planted == []


@pytest.mark.slow
@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("kind", ["lake", "sqlite", "hadoop"])
def test_a_class_in_existing_metadata_is_not_called(kind: str, served: bool, tmp_path: Path) -> None:
    """Another writer of the table set it."""
    with an_engine_of(tmp_path / "lake", served=False) as engine:
        session = session_of(engine)
        if kind != "lake":
            do(session, f"ATTACH '{tmp_path / 'c'}' AS c (TYPE {kind}{', CREATE true' if kind == 'hadoop' else ''})")
        schema = "default" if kind == "lake" else "c.s"
        do(session, f"CREATE SCHEMA IF NOT EXISTS {schema}")
        do(session, f"CREATE TABLE {schema}.t (a int) WITH ('format-version' = '3')")
        do(session, f"CREATE TABLE {schema}.u (a int)")
    for metadata in tmp_path.rglob("*.metadata.json"):
        with_properties(metadata, {IMPL: NAME, "py-io-impl": NAME, "DEFAULT_SCHEME": "s3"})
    with an_engine_of(tmp_path / "lake", served=served) as engine:
        session = session_of(engine, ADMIN)
        if kind != "lake":
            do(session, f"ATTACH '{tmp_path / 'c'}' AS c (TYPE {kind})")
        for table in (f"{schema}.t", f"{schema}.u"):
            do(session, f"INSERT INTO {table} VALUES (1), (2), (3)")
            do(session, f"DELETE FROM {table} WHERE a = 2")
            do(session, f"UPDATE {table} SET a = 4 WHERE a = 3")
            do(session, f"ANALYZE {table}")
            do(session, f"ALTER TABLE {table} ADD COLUMN b int")
            assert sorted(rows(session, f"SELECT a FROM {table}")) == [(1,), (4,)]
        do(session, f"CREATE TABLE {schema}.l (LIKE {schema}.t)")
        do(session, f"INSERT INTO {schema}.l VALUES (1, 1)")
    assert planted == []


@pytest.mark.parametrize("served", [True, False])
def test_a_class_in_metadata_of_a_rest_catalog_is_not_called(served: bool, tmp_path: Path) -> None:
    metadata = table_at(tmp_path / "theirs")
    with_properties(metadata, {IMPL: NAME, "py-io-impl": NAME})
    with (
        rogue_catalog(t=loaded(metadata)) as rogue,
        an_engine_of(tmp_path / "lake", served=served, allowed=(str(tmp_path / "theirs"),), r=rogue.as_catalog()) as e,
    ):
        session = session_of(e)
        assert rows(session, "SELECT a FROM r.s.t") == [(7,)]
        with pytest.raises(Exception, match="HTTP 501"):
            do(session, "INSERT INTO r.s.t VALUES (1)")
    assert planted == []
