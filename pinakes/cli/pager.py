"""The pager: output that exceeds the screen is streamed through `less` or $PAGER.

Leaving the pager ends the statement. Ctrl-C also reaches the pager, since both share the terminal: `less -K` exits.
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
"""No line wrapping, colours, text stays on the screen, Ctrl-C exits."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def pager_command() -> list[str]:
    """Returns the words of the command; empty if there is no pager or it is disabled."""
    given = os.environ.get("PAGER")
    if os.environ.get("TERM", "dumb") == "dumb" or given in ("", "cat"):
        return []
    if given is None:
        return shlex.split(_LESS) if shutil.which("less") else ["more"] if shutil.which("more") else []
    try:
        words = shlex.split(given)
    except ValueError:  # unclosed quote
        return []
    return words if words and shutil.which(words[0]) else []


class Paged(io.TextIOBase):
    """A stream that buffers text until it exceeds the screen, and then sends it to the pager."""

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
        """Whether the user left the pager before everything was written."""

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
        """Ends the output: prints the buffered text, or waits until the pager exits."""
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
        self._restore = _save_terminal(self._out)
        environment = {"LESS": "SRXK", **os.environ}  # for PAGER=less without options
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=self._out, env=environment)
        threading.Thread(target=self._watch, args=(self._process,), daemon=True, name="pager").start()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Ends the statement when the user leaves the pager, without waiting for the next row."""
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


def _save_terminal(out: TextIO) -> Callable[[], None]:
    """Returns a function that restores the current terminal settings: a killed pager may leave the terminal without
    echo."""
    try:
        import termios

        settings: list[Any] = termios.tcgetattr(out.fileno())
    except (ImportError, OSError, termios.error):
        return lambda: None
    return lambda: termios.tcsetattr(out.fileno(), termios.TCSADRAIN, settings)
