"""Starting, waiting for and stopping one server."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests.servers.base import Facts, Place, Server, Unavailable
from tests.servers.cache import cache

KEEPER = Path(__file__).with_name("keeper.py")
ATTEMPTS = 3


class Running:
    """A server that runs for as long as `owner` does (a process id; ours if not given), or until `stop`."""

    def __init__(
        self,
        server: Server,
        needs: Mapping[str, Facts],
        *,
        owner: int | None = None,
        settings: Mapping[str, str] = {},
        within: Path | None = None,
    ) -> None:
        self.server = server
        self._owner = owner or os.getpid()
        self._directory = Path(tempfile.mkdtemp(prefix=f"pinakes-{server.name}-", dir=within))
        self._directory.chmod(0o711)  # a server that runs as another user must get to its own part
        self.log = _log_file(server.name)
        self.place = self._new_place(needs, settings)
        self._keeper: subprocess.Popen[bytes] | None = None
        try:
            server.prepare(self.place)
            self._start_somewhere()
        except BaseException:
            self.stop()
            raise

    @property
    def facts(self) -> dict[str, str]:
        return self.server.facts(self.place)

    @property
    def keeper(self) -> subprocess.Popen[bytes]:
        """The process that ends the server when it is ended."""
        assert self._keeper is not None
        return self._keeper

    @property
    def directory(self) -> Path:
        return self._directory

    def restart(self) -> None:
        """Stop it, and start it on the same port with the same data."""
        self.halt()
        self.start()

    def halt(self) -> None:
        """Stop the process and keep its data."""
        if self._keeper is not None:
            self._keeper.terminate()
            self._keeper.wait()
            self._keeper = None

    def stop(self) -> None:
        self.halt()
        shutil.rmtree(self._directory, ignore_errors=True)

    def start(self) -> None:
        command = self.server.command(self.place)
        order = {
            "arguments": [str(argument) for argument in command.arguments],
            "environment": dict(command.environment),
            "directory": str(self.place.data),
            "signal": int(self.server.stop_signal),
            "remove": str(self._directory),
            "user": "nobody" if command.unprivileged and os.geteuid() == 0 else None,
        }
        keeper = [sys.executable, "-I", "-S", str(KEEPER), str(self._owner), str(self.log), json.dumps(order)]
        self._keeper = subprocess.Popen(keeper, stdin=subprocess.DEVNULL, start_new_session=True)
        self._wait()

    def _start_somewhere(self) -> None:
        """On another port when somebody took the one that was free a moment ago."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self.start()
            except Unavailable:
                self.halt()
                if attempt == ATTEMPTS or "address already in use" not in self.log.read_text(errors="replace").lower():
                    raise
                self.place = self._new_place(self.place.needs, self.place.settings)
        return None

    def _wait(self) -> None:
        assert self._keeper is not None
        deadline = time.monotonic() + self.server.patience
        while not self.server.ready(self.place):
            if self._keeper.poll() is not None:
                raise Unavailable(f"{self.server.name} ended at once: {self._last_words()}")
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"{self.server.name} was not ready after {self.server.patience:g} s: {self._last_words()}"
                )
            time.sleep(0.05)

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return f"{' / '.join(lines[-3:])} (its log is {self.log})"

    def _new_place(self, needs: Mapping[str, Facts], settings: Mapping[str, str]) -> Place:
        data = self._directory / "data"
        data.mkdir(exist_ok=True)
        first, second = free_ports(2)
        return Place(data, first, second, needs, settings)


def _log_file(name: str) -> Path:
    """A new log in the cache; those of a week ago go."""
    logs = cache() / "logs"
    logs.mkdir(exist_ok=True)
    for old in logs.glob(f"{name}-*.log"):
        if old.stat().st_mtime < time.time() - 7 * 86400:
            old.unlink(missing_ok=True)
    handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".log", dir=logs)
    os.close(handle)
    return Path(path)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url: str, method: str = "GET", status: tuple[int, ...] = (200,)) -> bool:
    """Whether a request gives one of these; nobody there yet is a no."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=5) as answer:
            return answer.status in status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code in status
    except (OSError, http.client.HTTPException):
        return False
