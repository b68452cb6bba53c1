"""The file of users that `pinakes user` writes and `pinakes serve` reads: lines `name:hash` and `name:hash:admin`.

The hash of a password is argon2's, that of a token `sha256:…`; a user may have several lines, such as a password and a
token. The file is replaced atomically, so that readers never see a partial file.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pinakes.core.errors import ConfigError, InvalidArgument

TOKEN = "sha256:"
"""The prefix of token hashes."""
_NAME = re.compile(r"[^\s:#\x00-\x1f][^:\x00-\x1f]{0,199}")
_HEAD = "# Users of `pinakes serve`. Written by `pinakes user`; read at each log-in.\n"


class Entry(NamedTuple):
    name: str
    stored: str
    is_admin: bool = False

    @property
    def kind(self) -> str:
        return "token" if self.stored.startswith(TOKEN) else "password"

    @property
    def line(self) -> str:
        return f"{self.name}:{self.stored}{':admin' if self.is_admin else ''}"


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or name != name.strip():
        raise InvalidArgument(f"{name!r} can't be the name of a user: it has a colon in it, or is empty or too long")


def read_users(path: Path) -> list[Entry]:
    """Reads the entries of a file; an invalid line is an error with its number and without its content."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the users file {str(path)!r} can't be read: {_why(error)}") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [_entry(path, number, line) for number, line in lines if line and not line.startswith("#")]


def _entry(path: Path, number: int, line: str) -> Entry:
    """Parses a line; the hash of a token contains a colon."""
    found = re.fullmatch(r"([^:]+):(\$argon2\w+\$[^:]+|sha256:[0-9a-f]{64})(:admin)?", line)
    if found is None:
        raise ConfigError(
            f"line {number} of the users file {str(path)!r} is not a user entry: "
            "create one with `pinakes user add NAME`"
        )
    return Entry(found.group(1), found.group(2), found.group(3) is not None)


def change_users(path: Path, change: Callable[[list[Entry]], Sequence[Entry]]) -> None:
    """Replaces the entries with the result of `change`, under a lock against other processes."""
    with _locked(path):
        entries = change(read_users(path) if path.exists() else [])
        _write(path, _HEAD + "".join(f"{entry.line}\n" for entry in entries))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ConfigError(f"the users file {str(path)!r} can't be written: {_why(error)}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, from the first byte on."""
    try:
        handle, half = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(half).replace(path)
    except OSError as error:
        raise ConfigError(f"the users file {str(path)!r} can't be written: {_why(error)}") from error


def _why(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "it is not text"
