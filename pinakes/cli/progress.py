"""The progress line on the terminal for statements that take more than a second.

The thread that waits for the statement draws it on stderr, in place, and erases it before other output. If rows go to a
terminal, or to a pipe whose reader may be a pager on the same screen, the line ends with the first row; if they go to a
file it stays until the last one.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from pinakes.core.output.terminal_text import one_line

if TYPE_CHECKING:
    import pyarrow as pa

    from pinakes.api.shell_backend import ShellBackend, Work

DELAY = 1.0
"""Seconds before the line appears."""
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_ROOM = 4
"""Columns that stay free, so that a ^C printed by the terminal does not wrap."""
_ERASE = "\r\x1b[K"


class Progress:
    """The progress line of one statement."""

    def __init__(self, backend: ShellBackend, out: TextIO, err: TextIO) -> None:
        self._backend, self._out, self._err = backend, out, err
        self._lock = threading.Lock()
        self._over = not _has_room(err)
        self._drawn = 0
        self._began = time.monotonic()

    def tick(self) -> None:
        """Redraws the line; called repeatedly while the statement runs."""
        if time.monotonic() - self._began >= DELAY:
            self._draw()

    def over(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the batches; ends the line before rows are printed to the same terminal."""
        stays = not self._over and _is_file(self._out)
        try:
            for batch in batches:
                if not stays:
                    self.end()
                yield batch
        finally:
            self.end()
            getattr(batches, "close", lambda: None)()

    def end(self) -> None:
        """Erases the line for good. Thread-safe."""
        with self._lock:
            if self._drawn and not self._over:
                self._put(_ERASE)
            self._over = True

    def _draw(self) -> None:
        with self._lock:
            if self._over:
                return
            frames = _PLAIN_FRAMES if os.environ.get("TERM") == "linux" else _FRAMES
            line = f"{frames[self._drawn % len(frames)]} {one_line(self._words())}"
            self._drawn += 1  # before drawing: after a Ctrl-C in between the line is still erased
            self._put("\r" + line[: max(_width(self._err) - _ROOM, 1)] + "\x1b[K")

    def _words(self) -> str:
        seconds = time.monotonic() - self._began
        took = f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
        return f"{_progress_text(self._backend.working())} · {took} · Ctrl-C cancels"

    def _put(self, text: str) -> None:
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:  # the terminal is closed: progress is not worth an error
            self._over = True


def _progress_text(work: Work | None) -> str:
    if work is None:
        return "waiting"
    return f"{work.rows:,} rows" if work.rows else work.progress or work.state.lower()


def _has_room(err: TextIO) -> bool:
    """Whether a line can be drawn and erased there."""
    return err.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _is_file(out: TextIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(out.fileno()).st_mode)
    except (OSError, ValueError):  # not a file of the system, or closed
        return False


def _width(err: TextIO) -> int:
    """Returns the terminal's width; some terminals report 0."""
    try:
        return os.get_terminal_size(err.fileno()).columns or 80
    except OSError:
        return 80
