"""Spark needs a privilege on a server, and no statement reads variables, the environment, files or classes there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.config.spark import SparkConfig
from pinakes.core.errors import NotSupportedError, PermissionDenied, PinakesError
from pinakes.core.identity import Identity
from pinakes.engine.catalogs.authorization.policy import Policy
from pinakes.engine.catalogs.opening import Opening
from pinakes.engine.engine import Engine
from pinakes.engine.remote.interface import RemoteCatalog
from pinakes.engine.session import Session
from pinakes.spark.catalogs import settings_of
from pinakes.spark.connect import SETTINGS
from pinakes.spark.local_server import COMMON, _environment
from tests.engine.support import info_of, rows
from tests.pipeline.conftest import config_of
from tests.servers.base import Facts

EVE, ADMIN = Identity("eve"), Identity("ann", roles=frozenset({"admin"}))
LOW = SparkConfig(remote="sc://127.0.0.1:1", threshold=0)
"""A Spark that does not answer: what gets so far is UNAVAILABLE, and what is refused is not sent."""


@pytest.fixture
def server() -> Iterator[Engine]:
    config = Config(engine=replace(EngineConfig(), data=":memory:"), given_spark=LOW)
    with open_engine(config, Policy(("attach",))) as engine:
        rows(engine.session(ADMIN), "CREATE TABLE lake.default.t AS SELECT 1 AS a")
        yield engine


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT /*+ ENGINE(spark) */ '${env:SPARK_CONNECT_AUTHENTICATE_TOKEN}' FROM lake.default.t",
        "INSERT /*+ ENGINE(spark) */ INTO lake.default.t SELECT 2",
        "DELETE /*+ ENGINE(spark) */ FROM lake.default.t WHERE a = 1",
        "CALL /*+ ENGINE(spark) */ lake.system.rewrite_data_files('default.t')",
    ],
)
def test_a_user_without_the_privilege_is_refused(server: Engine, sql: str) -> None:
    with pytest.raises(PermissionDenied, match=r"running statements on Spark is for administrators.*\"spark\""):
        rows(server.session(EVE), sql)
    session = server.session(EVE)
    rows(session, "SET engine = 'spark'")
    with pytest.raises(PermissionDenied, match="running statements on Spark"):
        rows(session, sql.replace("/*+ ENGINE(spark) */", ""))


def test_auto_stays_local_without_the_privilege_and_explain_says_so(server: Engine) -> None:
    session = server.session(EVE)
    rows(session, "SET engine = 'auto'")
    assert rows(session, "SELECT a FROM lake.default.t") == [(1,)]
    told = json.loads(str(rows(session, "EXPLAIN FULL FORMAT JSON SELECT a FROM lake.default.t")[0][0]))["engine"]
    assert told["name"] == "local"
    assert "this user lacks the privilege `spark`" in told["why"]
    rows(session, "INSERT INTO lake.default.t SELECT 2")
    assert rows(session, "SELECT count(*) FROM lake.default.t") == [(2,)]


def test_administrators_users_with_the_privilege_and_embedded_engines_may(server: Engine) -> None:
    assert server.session(ADMIN).guard.may_use_spark
    assert not server.session(EVE).guard.may_use_spark
    config = server.config
    with open_engine(config, Policy(("spark",))) as granted, open_engine(config) as embedded:
        assert granted.session(EVE).guard.may_use_spark
        assert embedded.session().guard.may_use_spark


def test_pipelines_need_the_privilege(server: Engine) -> None:
    from pinakes.pipelines.runs.workspace import opened

    session = server.session(EVE)
    query = server.tracker.start("eve", "pipeline")
    with pytest.raises(PermissionDenied, match="running statements on Spark"), opened(None, session, query):  # type: ignore[arg-type]
        pass


def test_substitution_is_off_for_every_session_and_the_environment_has_no_secret() -> None:
    assert SETTINGS["spark.sql.variable.substitute"] == "false"
    assert COMMON["spark.sql.variable.substitute"] == "false"
    assert SETTINGS["spark.sql.runSQLOnFiles"] == "false"
    assert set(_environment(Path("/x"))) == {"SPARK_HOME", "SPARK_LOCAL_IP", "PATH"}


@pytest.mark.parametrize(
    ("type", "location", "options"),
    [
        ("iceberg_rest", "http://127.0.0.1:1", {"WAREHOUSE": "env:SECRET"}),
        ("iceberg_rest", "http://127.0.0.1:1", {"PREFIX": "env:SECRET"}),
        ("jdbc", "postgresql://u:p@127.0.0.1/db%3FsocketFactory=java.lang.String", {}),
        ("jdbc", "postgresql://u:p@127.0.0.1/db%26x=y", {}),
        ("jdbc", "mysql://u:p@127.0.0.1/db%3FserverSslCert=%2Fetc%2Fpasswd", {}),
        ("sqlite", "/x/a?enable_load_extension=true&b", {}),
    ],
)
def test_options_of_a_catalog_smuggle_in_no_option_of_a_driver(
    type: str, location: str, options: dict[str, object], server: Engine
) -> None:
    lake = server.opening_of(server.session(ADMIN).catalogs.get("lake").catalog)
    assert lake is not None
    opening: Opening = replace(lake, type=type, location=location, options=options)
    with pytest.raises(NotSupportedError, match=r"env:|for options"):
        settings_of(RemoteCatalog("x", opening))


# --- a real Spark --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark(spark_connect_server: Facts) -> Iterator[Session]:
    config = config_of(spark_connect_server)
    with open_engine(config, Policy(("spark",))) as engine:
        rows(engine.session(ADMIN), "CREATE TABLE lake.default.t AS SELECT 1 AS a, 'x' AS b")
        session = engine.session(EVE)
        rows(session, "SET engine = 'spark'")
        yield session


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "${env:SPARK_CONNECT_AUTHENTICATE_TOKEN}",
        "${env:PATH}",
        "${system:java.io.tmpdir}",
        "${system:spark.connect.authenticate.token}",
        "${spark.connect.authenticate.token}",
        "${spark.sql.ansi.enabled}",
        "${hivevar:x}",
        "$${a}",
        "${",
        "a ${b} c '' ${}",
    ],
)
def test_a_text_is_the_same_text_on_spark(spark: Session, text: str) -> None:
    sql = f"SELECT /*+ ENGINE(spark) */ a, '{text}' AS \"${{env:PATH}}\", b || '{text}' FROM lake.default.t"
    result = spark.run(sql).read_all()
    local = spark.run(sql.replace("spark)", "local)", 1)).read_all()
    assert result.to_pydict() == local.to_pydict()
    assert info_of(spark.engine, sql).engine == "spark"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT reflect('java.lang.System', 'getenv', 'PATH') FROM lake.default.t",
        "SELECT java_method('java.lang.System', 'getProperty', 'user.home') FROM lake.default.t",
        "SELECT try_reflect('java.lang.System', 'getenv', 'PATH') FROM lake.default.t",
        "SELECT * FROM read_files('/etc/passwd')",
        "SELECT * FROM csv.`/etc/passwd`",
        'SELECT * FROM "csv"."/etc/passwd"',
        'SELECT * FROM text."/etc/passwd"',
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SET spark.sql.variable.substitute = true",
        "SET \"spark.sql.catalog.x\" = 'y'",
        "ADD JAR '/x.jar'",
        "CREATE FUNCTION f AS 'java.lang.String'",
        "SELECT input_file_name() FROM lake.default.t",
        "SELECT version(), current_catalog() FROM lake.default.t; SET spark.x",
    ],
)
def test_paths_reflection_and_settings_are_refused_on_spark(spark: Session, sql: str) -> None:
    with pytest.raises(PinakesError) as error:
        rows(spark, sql)
    assert error.value.code in {
        "NOT_SUPPORTED", "FUNCTION_NOT_FOUND", "PARSE_ERROR", "PERMISSION_DENIED", "SETTING_NOT_FOUND",
        "TABLE_NOT_FOUND", "NAMESPACE_NOT_FOUND", "CATALOG_NOT_FOUND", "INVALID_ARGUMENT",
    }  # fmt: skip
