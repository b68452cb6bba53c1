"""Servers as pytest fixtures: `postgres_server`, `rest_server`, … give the facts of a server that the session shares.

A test that must have one of its own, to stop it for instance, takes `private_server`. A server that can't be had skips
the tests that need it, by name and with the reason; with CI=true that is a failure (`allowed_skips.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, Protocol

import pytest

from tests.servers.all import SERVERS
from tests.servers.allowed_skips import ALLOWED
from tests.servers.base import Facts, Unavailable
from tests.servers.running import Running
from tests.servers.shared import SharedServers

_SHARED = pytest.StashKey[SharedServers]()


class StartServer(Protocol):
    def __call__(self, name: str, /, **settings: str) -> Running: ...


# --- the session -------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """The process that pytest was started as owns the servers; xdist's workers are told about it."""
    given = getattr(config, "workerinput", None)
    shared = SharedServers(Path(given["servers"]), given["servers_owner"]) if given else SharedServers.new()
    config.stash[_SHARED] = shared


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    shared = node.config.stash[_SHARED]
    node.workerinput |= {"servers": str(shared.directory), "servers_owner": shared.owner}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin with the servers that the chosen tests need, beside those that need none. One process of all does it."""
    worker = getattr(session.config, "workerinput", {"workerid": "gw0"})["workerid"]
    if worker != "gw0" or session.config.option.collectonly:
        return
    wanted = {name for item in session.items for name in _needed(item)}
    if len(wanted) > 1 or len(session.items) > 50:
        session.config.stash[_SHARED].prepare([name for name in SERVERS if name in wanted])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and _SHARED in config.stash:
        config.stash[_SHARED].close()


def _needed(item: pytest.Item) -> list[str]:
    if item.get_closest_marker("skip"):
        return []
    fixtures = getattr(item, "fixturenames", ())
    return [name for name in SERVERS if _fixture_name(name) in fixtures]


# --- the fixtures ------------------------------------------------------------------------------------------------


def _fixture_name(server: str) -> str:
    return f"{server.replace('-', '_')}_server"


def _fixture(server: str) -> Callable[[pytest.Config], Facts]:
    @pytest.fixture(scope="session", name=_fixture_name(server))
    def facts(pytestconfig: pytest.Config) -> Facts:
        try:
            return pytestconfig.stash[_SHARED].get(server)
        except Unavailable as error:
            unavailable(server, str(error))

    return facts


hive_server = _fixture("hive")
keycloak_server = _fixture("keycloak")
mariadb_server = _fixture("mariadb")
moto_server = _fixture("moto")
nessie_server = _fixture("nessie")
nessie_auth_server = _fixture("nessie-auth")
postgres_server = _fixture("postgres")
rest_server = _fixture("rest")
s3_server = _fixture("s3")
spark_server = _fixture("spark")
spark_connect_server = _fixture("spark-connect")
spark_cluster_server = _fixture("spark-cluster")


@pytest.fixture
def private_server(pytestconfig: pytest.Config) -> Iterator[StartServer]:
    """Starts servers of the test's own and stops them after it; what they need is shared."""
    started: list[Running] = []

    def start(name: str, /, **settings: str) -> Running:
        server = SERVERS[name]
        try:
            needs = {needed: pytestconfig.stash[_SHARED].get(needed) for needed in server.needs}
            server.install()
            started.append(Running(server, needs, settings=settings))
        except Unavailable as error:
            unavailable(name, str(error))
        return started[-1]

    yield start
    for running in started:
        running.stop()


def unavailable(server: str, reason: str) -> NoReturn:
    """The only place where a test gives up for want of a server."""
    if os.environ.get("CI") == "true" and server not in ALLOWED:
        pytest.fail(f"server {server} can't be had, which CI does not forgive: {reason}", pytrace=False)
    pytest.skip(f"server {server}: {reason}")
