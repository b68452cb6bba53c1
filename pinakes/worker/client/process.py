"""Workers that are local programs: starts them, reads their standard error, and ends them."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence

from pinakes.worker.channel import Channel
from pinakes.worker.client.connection import PipeConnection
from pinakes.worker.exceptions import WorkerDied

LOGGER = logging.getLogger("pinakes.worker.stderr")

_KEPT_LINES = 20
_LINE = 2_000
"""The maximum length of a line of standard error, in characters."""
_LINES_PER_SECOND = 100
"""The maximum number of logged lines per second; more are only counted."""
_GRACE = 2.0
"""Seconds in which a worker must exit after its input is closed."""
_START = 15.0
"""Seconds that a program may take to start, in addition to the timeout of the first response."""
_PIPE_BYTES = 1 << 20


def start(
    command: Sequence[str], *, name: str, cwd: str | None = None, env: Mapping[str, str] | None = None
) -> PipeConnection:
    """Starts a worker; `name` prefixes the lines of its standard error in the log."""
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=_inherited() if env is None else dict(env),
            start_new_session=True,  # Ctrl-C at the shell is for the query, not for the worker
        )
    except OSError as error:
        raise WorkerDied(f"'{command[0]}' can't be started: {error.strerror or error}") from error
    running = _Process(process, name)
    assert process.stdin is not None
    assert process.stdout is not None
    reading, writing = os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno())
    process.stdin.close()
    process.stdout.close()
    for fd in (reading, writing):
        _widen(fd)
    made = PipeConnection(Channel(reading, writing), running.obituary, running.end)
    made.grace = _START
    return made


def _inherited() -> dict[str, str]:
    """Returns the environment of this process without the keys of its persistent secrets."""
    return {name: value for name, value in os.environ.items() if name != "PINAKES_SECRET_KEY"}


class _Process:
    def __init__(self, process: subprocess.Popen[bytes], name: str) -> None:
        self._process = process
        self._name = name
        self._last: deque[str] = deque(maxlen=_KEPT_LINES)
        self._listener = threading.Thread(target=self._listen, name=f"pinakes-stderr-{name}", daemon=True)
        self._listener.start()

    def obituary(self) -> str:
        """Returns how the process ended, and its last lines of standard error."""
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return "it still runs and answers nothing"
        self._listener.join(_GRACE)
        how = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
        said = " | ".join(line for line in list(self._last)[-5:] if line.strip())
        return f"{how}{f'; its last words: {said}' if said else ''}"

    def end(self) -> None:
        """Ends the process without waiting: a thread reaps it, and kills it if it does not exit."""
        if self._process.poll() is None:
            threading.Thread(target=self._reap, name=f"pinakes-reap-{self._name}", daemon=True).start()

    def _reap(self) -> None:
        try:
            self._process.wait(_GRACE)  # it exits when its input is closed
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        """Reads standard error until it ends: otherwise the worker would block on a full pipe."""
        assert self._process.stderr is not None
        second, lines = 0, 0
        with self._process.stderr as stderr:
            while line := stderr.readline(_LINE):
                text = line.decode("utf-8", "replace").rstrip()
                self._last.append(text)
                now = int(time.monotonic())
                if now != second:
                    self._say_dropped(lines)
                    second, lines = now, 0
                lines += 1
                if lines <= _LINES_PER_SECOND and text:
                    LOGGER.info("%s: %s", self._name, text)
        self._say_dropped(lines)

    def _say_dropped(self, lines: int) -> None:
        if lines > _LINES_PER_SECOND:
            LOGGER.warning("%s: %d more lines in a second were left out", self._name, lines - _LINES_PER_SECOND)


def _widen(fd: int) -> None:
    """Enlarges a pipe, for fewer context switches; the system limits its size."""
    import fcntl

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError as error:
            LOGGER.debug("the pipe stays as it is: %s", error)
