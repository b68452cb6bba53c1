"""Processes of the command `pinakes`, forked from one that has all modules imported: a new one takes a second for that.

That the installed command starts as it is to is tested with processes that are not forked: tests/test_readme.py,
tests/test_release.py, tests/cli/test_pipes.py and others.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pinakes.cli.runner
import pinakes.cli.script
import pinakes.cli.subcommands.serve  # noqa: F401 - what commands import when they run, before they are forked
from pinakes.cli.main import run_and_leave
from tests.engine.support import FORKS


class Command:
    """A process that runs `pinakes` with these arguments. It has the methods of `subprocess.Popen` that tests use.

    On a terminal, it is the process that the terminal's keys send signals to.
    """

    def __init__(
        self,
        *arguments: str,
        stdin: int,
        stdout: int,
        stderr: int,
        env: Mapping[str, str],
        cwd: Path | None = None,
    ) -> None:
        streams = [Connection(os.dup(number)) for number in (stdin, stdout, stderr)]  # these can be sent to a process
        try:
            self._process = FORKS.Process(target=_run, args=(arguments, streams, str(cwd or Path.cwd()), dict(env)))
            self._process.start()
        finally:
            for stream in streams:
                stream.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("pinakes", timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    *arguments: str, input: str, cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Runs `pinakes` to its end, as `subprocess.run` does with `capture_output`."""
    (stdin, writing), (reading_out, stdout), (reading_err, stderr) = (os.pipe() for _ in range(3))
    process = Command(*arguments, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
    for number in (stdin, stdout, stderr):
        os.close(number)
    with ThreadPoolExecutor(2) as pool:
        output = [pool.submit(_read, number) for number in (reading_out, reading_err)]
        with suppress(BrokenPipeError), os.fdopen(writing, "w", encoding="utf-8") as file:
            file.write(input)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
    return subprocess.CompletedProcess(["pinakes", *arguments], code, *(text.result() for text in output))


def _read(number: int) -> str:
    with os.fdopen(number, encoding="utf-8") as file:
        return file.read()


def _run(arguments: tuple[str, ...], streams: list[Connection], cwd: str, env: dict[str, str]) -> None:
    """The forked process: makes of it what a new one would be, and runs the command."""
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", buffering=1 if os.isatty(1) else -1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.path[1:1] = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]
    os.chdir(cwd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["pinakes", *arguments]
    run_and_leave()
