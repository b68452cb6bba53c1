"""The streams of the process: open, in UTF-8, and what is said when nobody can be told."""

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
"""Exit codes: an output that could not be written, and one whose reader has gone."""


def to_utf8(console: Console) -> None:
    """Output is UTF-8 whatever the locale says; a lone surrogate is escaped, not an error."""
    for stream in (console.out, console.err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def open_streams() -> None:
    """A stream that the shell has closed (`>&-`) is None: what would go there, nobody wants."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - it stays open


def flushed(code: int | str | None) -> int | str | None:
    """Print what is left to print; the exit code if that went well."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        return code if code and not isinstance(error, BrokenPipeError) else unwritten(error)
    return code


def unwritten(error: OSError) -> int:
    """Our output could not be written: say so, unless its reader has gone."""
    _discard_output()
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED
    with suppress(OSError):  # if it is stderr that is full, nobody can be told
        print(f"pinakes: can't write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)  # noqa: T201
    return FAILED


def _discard_output() -> None:
    """Whoever read our output has gone: say nothing more, and don't fail while the interpreter flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
