"""One run of each server for a whole test session, shared by all its processes.

The session is a directory: NAME.lock keeps two processes from starting the same server, NAME.json tells how to connect
(or why there is no server, so that nobody tries again), and the process id of its keeper. Servers live as long as the
owner, the process that pytest was started as.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.all import SERVERS
from tests.servers.base import Facts, Unavailable
from tests.servers.cache import locked
from tests.servers.running import Running

_PREFIX = "pinakes-session-"
ROOT = Path(__file__).parents[2]


class SharedServers:
    """The servers of a session."""

    def __init__(self, directory: Path, owner: int) -> None:
        self.directory = directory
        self.owner = owner
        self._children: list[subprocess.Popen[bytes]] = []

    @classmethod
    def new(cls) -> SharedServers:
        """A session that this process owns. Directories of owners that were killed go at this occasion."""
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
            if born(int(left.name.removeprefix(_PREFIX).partition("-")[0])) is None:
                shutil.rmtree(left, ignore_errors=True)
        directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        directory.chmod(0o711)  # a server that runs as another user must get to its own part
        return cls(directory, os.getpid())

    def get(self, name: str) -> Facts:
        """How to connect to a server, which is installed and started if nobody did so yet."""
        needs = {needed: self.get(needed) for needed in SERVERS[name].needs}
        with locked(self.directory / f"{name}.lock"):
            state = self._state(name) or self._start(name, needs)
        if "error" in state:
            raise Unavailable(state["error"])
        facts: Facts = state["facts"]
        return facts

    def prepare(self, names: Sequence[str]) -> None:
        """Begin to install and start these, in a process beside this one; `get` then waits for what is not ready."""
        if names:
            ahead = [sys.executable, "-m", "tests.servers", "ahead", str(self.directory), str(self.owner), *names]
            process = subprocess.Popen(ahead, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True)
            self._write("ahead", {"group": process.pid, "born": born(process.pid)})
            self._children.append(process)

    def close(self) -> None:
        """Stop all that was started. Keepers end by themselves when the owner does; this waits for them."""
        ahead = self._state("ahead")
        if ahead and born(ahead["group"]) == ahead["born"]:
            with suppress(ProcessLookupError):
                os.killpg(ahead["group"], signal.SIGKILL)
        states = [state for name in SERVERS if (state := self._state(name)) and "keeper" in state]
        for state in states:
            with suppress(ProcessLookupError):
                if born(state["keeper"]) == state["born"]:
                    os.kill(state["keeper"], signal.SIGTERM)
        for state in states:
            while born(state["keeper"]) == state["born"]:
                time.sleep(0.02)
        for child in self._children:
            child.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self, name: str, needs: dict[str, Facts]) -> dict[str, Any]:
        began = time.monotonic()
        try:
            SERVERS[name].install()
            installed = time.monotonic()
            running = Running(SERVERS[name], needs, owner=self.owner, within=self.directory)
        except Unavailable as error:
            state: dict[str, Any] = {"error": str(error)}
        else:
            self._children.append(running.keeper)
            state = {
                "facts": running.facts,
                "keeper": running.keeper.pid,
                "born": born(running.keeper.pid),
                "seconds": {"install": installed - began, "start": time.monotonic() - installed},
                "log": str(running.log),
            }
        self._write(name, state)
        return state

    def _write(self, name: str, state: dict[str, Any]) -> None:
        half = self.directory / f"{name}.half"
        half.write_text(json.dumps(state))
        half.rename(self._file(name))

    def _state(self, name: str) -> dict[str, Any] | None:
        try:
            state: dict[str, Any] = json.loads(self._file(name).read_text())
        except FileNotFoundError:
            return None
        return state

    def _file(self, name: str) -> Path:
        return self.directory / f"{name}.json"

    def seconds(self, name: str) -> dict[str, float]:
        state = self._state(name) or {}
        taken: dict[str, float] = state.get("seconds", {})
        return taken


def born(pid: int) -> str | None:
    """When a process started, in ticks: another one of the same number has another time. None if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else fields[19]
