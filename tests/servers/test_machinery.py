"""The machinery of the test servers itself, on a server that needs no installing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers import cache, plugin
from tests.servers.all import SERVERS, with_needs
from tests.servers.base import Command, Place, Server, Unavailable
from tests.servers.fetch import apt, run
from tests.servers.running import Running, listens
from tests.servers.shared import ROOT, SharedServers, born

pytestmark = pytest.mark.slow


class Files(Server):
    """Python's own web server."""

    name = "files"

    def install(self) -> None:
        pass

    def command(self, place: Place) -> Command:
        return Command([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(place.port)])

    def ready(self, place: Place) -> bool:
        return listens(place.port)

    def facts(self, place: Place) -> dict[str, str]:
        return {"port": str(place.port), "data": str(place.data)}


class Broken(Files):
    name = "broken"

    def command(self, place: Place) -> Command:
        return Command([sys.executable, "-c", "raise SystemExit('no such thing')"])


class Missing(Files):
    name = "missing"

    def install(self) -> None:
        run([sys.executable, "-c", "raise SystemExit('no network here')"])


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PINAKES_CACHE", str(tmp_path / "cache"))
    for server in (Files(), Broken(), Missing()):
        monkeypatch.setitem(SERVERS, server.name, server)


@pytest.fixture
def shared() -> Iterator[SharedServers]:
    servers = SharedServers.new()
    yield servers
    servers.close()
    assert not servers.directory.exists()


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so within a time that only a failure takes."""
    deadline = time.monotonic() + 30
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


def test_all_who_ask_share_one_server(shared: SharedServers) -> None:
    others = [SharedServers(shared.directory, shared.owner) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda servers: servers.get("files"), others))
    assert all(facts == found[0] for facts in found)
    for servers in others:
        servers.close()
    assert not listens(int(found[0]["port"]))
    assert not Path(found[0]["data"]).exists()


@pytest.mark.parametrize(
    ("name", "reason"), [("broken", "ended at once: no such thing"), ("missing", "no network here")]
)
def test_a_server_that_can_not_be_had_says_why_and_is_tried_once(
    shared: SharedServers, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    with pytest.raises(Unavailable, match=reason):
        shared.get(name)
    monkeypatch.setitem(SERVERS, name, Files())
    with pytest.raises(Unavailable, match=reason):
        shared.get(name)


def test_what_a_killed_owner_left_is_swept() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = Path(tempfile.mkdtemp(prefix=f"pinakes-session-{gone.pid}-"))
    SharedServers.new().close()
    assert not left.exists()


def test_a_server_restarts_with_its_data_and_port() -> None:
    running = Running(Files(), {})
    (running.place.data / "kept").touch()
    before = running.facts
    running.restart()
    assert running.facts == before
    assert (running.place.data / "kept").exists()
    running.halt()
    assert not listens(running.place.port)
    running.stop()
    assert not running.place.data.exists()


OWNER = """
import sys
from tests.servers.running import Running
from tests.servers.test_machinery import Files
running = Running(Files(), {})
print(running.place.port, running.keeper.pid, running.directory, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("killed", ["owner", "keeper"])
def test_a_server_goes_with_its_owner_and_with_its_keeper(killed: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    port, keeper, directory = owner.stdout.readline().split()
    assert listens(int(port))
    os.kill(owner.pid if killed == "owner" else int(keeper), signal.SIGKILL)
    assert soon(lambda: not listens(int(port)))
    assert soon(lambda: born(int(keeper)) is None)
    if killed == "owner":
        assert soon(lambda: not Path(directory).exists())
    owner.kill()
    owner.communicate()
    shutil.rmtree(directory, ignore_errors=True)


# --- the cache ---------------------------------------------------------------------------------------------------


def test_a_thing_is_made_once_and_whole() -> None:
    made: list[Path] = []

    def make(place: Path) -> None:
        made.append(place)
        time.sleep(0.05)
        (place / "file").touch()

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: cache.once("thing", make), range(4)))
    assert len(made) == 1
    assert [place / "file" for place in found if (place / "file").exists()] == [cache.cache() / "apps/thing/file"]


def test_what_fails_half_way_leaves_nothing() -> None:
    def make(place: Path) -> None:
        (place / "half").touch()
        raise Unavailable("gone")

    with pytest.raises(Unavailable):
        cache.once("thing", make)
    assert list((cache.cache() / "apps").iterdir()) == []
    assert cache.once("thing", lambda place: (place / "whole").touch()).name == "thing"


def test_without_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="there is no apt-get"):
        apt("no-such-command", "no-such-package")


# --- pytest ------------------------------------------------------------------------------------------------------


def test_a_missing_server_skips_and_in_ci_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="server files: no network"):
        plugin.unavailable("files", "no network")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="which CI does not forgive: no network"):
        plugin.unavailable("files", "no network")
    monkeypatch.setitem(plugin.ALLOWED, "files", "a reason")
    with pytest.raises(pytest.skip.Exception):
        plugin.unavailable("files", "no network")


def test_every_server_has_a_fixture() -> None:
    real = [name for name in SERVERS if name not in ("files", "broken", "missing")]
    assert all(hasattr(plugin, plugin._fixture_name(name)) for name in real)


def test_needs_come_first() -> None:
    assert with_needs(["nessie-auth", "moto"]) == ["moto", "keycloak", "nessie-auth"]
