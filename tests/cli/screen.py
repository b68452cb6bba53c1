"""A process on a pseudo-terminal, and what its screen shows: pyte reads what a terminal would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyte

from tests.commands import Command

LONG = 180
"""Seconds after which what did not come never will."""


class Screen:
    def __init__(
        self,
        directory: Path,
        env: Mapping[str, str],
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        where: Sequence[str] = ("--data", ":memory:"),
    ):
        self.control, terminal = pty.openpty()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.resize(columns, rows, terminal)
        # It gets a controlling terminal of its own, so that Ctrl-C and a pager work as they do for people.
        variables = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **env}
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        self.process = Command(*where, *arguments, cwd=directory, env=variables, **streams)
        os.close(terminal)
        self.sent = b""

    def resize(self, columns: int, rows: int, terminal: int | None = None) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.control if terminal is None else terminal, termios.TIOCSWINSZ, size)
        self._screen.resize(rows, columns)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    def until(self, *texts: str) -> None:
        """Read until the screen shows all of these."""
        while not all(text in self.text for text in texts):
            ready, _, _ = select.select([self.control], [], [], LONG)
            assert ready, f"{texts!r} did not come; the screen shows\n{self.text}"
            try:
                data = os.read(self.control, 65536)
            except OSError as error:  # the process is gone
                raise AssertionError(f"{texts!r} did not come; the screen shows\n{self.text}") from error
            self.sent += data
            self._stream.feed(data)

    def prompt(self) -> None:
        """Read until the last line is an empty prompt."""
        while not self.text.endswith("lake.default>"):
            self._step()

    def _step(self) -> None:
        ready, _, _ = select.select([self.control], [], [], LONG)
        assert ready, f"no prompt; the screen shows\n{self.text}"
        data = os.read(self.control, 65536)
        self.sent += data
        self._stream.feed(data)

    def type(self, keys: str) -> None:
        os.write(self.control, keys.encode())

    def enter(self, text: str) -> None:
        """Type a line, and Enter when it stands there: keys that come too early are echoed elsewhere."""
        self.type(text)
        self.until(text[-4:])
        self.type("\r")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.control)
