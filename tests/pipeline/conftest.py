"""One Spark for all tests, and engines that use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import Config, EngineConfig
from pinakes.config.spark import SparkConfig
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from tests.servers.base import Facts


def config_of(facts: Facts) -> Config:
    """An engine that uses the Spark of the test session, as one does that a user has."""
    spark = SparkConfig(remote=facts["remote"], ui=facts["ui"], spool=facts["spool"])
    return Config(engine=replace(EngineConfig(), data=":memory:"), given_spark=spark)


@pytest.fixture(scope="module")
def engine(spark_connect_server: Facts) -> Iterator[Engine]:
    with open_engine(config_of(spark_connect_server)) as engine:
        yield engine


@pytest.fixture(scope="module")
def session(engine: Engine) -> Session:
    """In a namespace of its own."""
    session = engine.session()
    session.run("CREATE SCHEMA lake.s").read_all()
    session.run("USE lake.s").read_all()
    return session
