"""The standard streams of the process: opening, encoding, and failed writes."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.cli.console import Console

FAILED, PIPE_CLOSED = 1, 141
"""Exit codes: the output could not be written, and the reader has closed the pipe."""


def to_utf8(console: Console) -> None:
    """Sets the output to UTF-8, regardless of the locale; a lone surrogate is escaped."""
    for stream in (console.out, console.err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def open_streams() -> None:
    """Replaces closed streams (`>&-`), which are None, by the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - it stays open


def flush_output(code: int | str | None) -> int | str | None:
    """Flushes the output; returns the exit code, or that of a failed write."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        return code if code and not isinstance(error, BrokenPipeError) else report_unwritten(error)
    return code


def report_unwritten(error: OSError) -> int:
    """Reports that the output could not be written, unless its reader has closed the pipe; returns the exit code."""
    _discard_output()
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    with suppress(OSError):  # if stderr is not writable, the error can't be reported
        print(f"pinakes: can't write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)  # noqa: T201
    return FAILED


def _discard_output() -> None:
    """Redirects stdout to the null device, so that the flush at exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
