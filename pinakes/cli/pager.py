"""The pager: a result that is more than a screenful goes through `less`, or whatever $PAGER names, while it streams.

Leaving the pager ends the statement. Ctrl-C reaches the pager as well, since both have the terminal: `less -K` leaves.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

_LESS = "less -SRXK"
"""Long lines are not wrapped, colours stay, the text stays on the screen afterwards, Ctrl-C leaves."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def pager_command() -> list[str]:
    """The words of the command; none when there is no pager, or nobody wants one."""
    given = os.environ.get("PAGER")
    if os.environ.get("TERM", "dumb") == "dumb" or given in ("", "cat"):
        return []
    if given is None:
        return shlex.split(_LESS) if shutil.which("less") else ["more"] if shutil.which("more") else []
    try:
        words = shlex.split(given)
    except ValueError:  # a quote is not closed
        return []
    return words if words and shutil.which(words[0]) else []


class Paged(io.TextIOBase):
    """Text that is held back until it is more than the screen has room for; then it goes to the pager."""

    def __init__(self, out: TextIO, command: list[str], size: os.terminal_size, on_quit: Callable[[], object]) -> None:
        self._out = out
        self._command = command
        self._columns, self._lines = max(size.columns, 1), max(size.lines - 2, 1)
        self._on_quit = on_quit
        self._held: list[str] = []
        self._used = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self.left = False
        """Whether the user left the pager before all was written."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._process is None:
            self._held.append(text)
            if not self._is_too_much(text):
                return len(text)
            text = "".join(self._held)
            self._held = []
            self._start()
        self._send(text)
        return len(text)

    def finish(self) -> None:
        """All is written: show what was held back, or wait until the pager is left."""
        self._ended = True
        if self._process is None:
            self._out.write("".join(self._held))
            return
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._restore()

    def _is_too_much(self, text: str) -> bool:
        plain = _COLOUR.sub("", text) if "\x1b" in text else text
        lines = plain.split("\n")
        self._used += len(lines) - 1
        return self._used > self._lines or any(len(line) > self._columns for line in lines)

    def _start(self) -> None:
        self._out.flush()
        self._restore = _remembered_terminal(self._out)
        environment = {"LESS": "SRXK", **os.environ}  # for a $PAGER of `less` without options
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=self._out, env=environment)
        threading.Thread(target=self._watch, args=(self._process,), daemon=True, name="pager").start()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """A query may give no row for long: whoever leaves the pager doesn't wait for the next one."""
        process.wait()
        if not self._ended:
            self.left = True
            self._on_quit()

    def _send(self, text: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode("utf-8", "backslashreplace"))
            self._process.stdin.flush()
        except BrokenPipeError:
            self.left = True
            raise


def _remembered_terminal(out: TextIO) -> Callable[[], None]:
    """What puts the terminal back as it is now: a pager that is killed may leave it without echo."""
    try:
        import termios

        settings: list[Any] = termios.tcgetattr(out.fileno())
    except (ImportError, OSError, termios.error):
        return lambda: None
    return lambda: termios.tcsetattr(out.fileno(), termios.TCSADRAIN, settings)
