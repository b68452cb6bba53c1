"""Local users: those of the configuration and those of the users file."""

from __future__ import annotations

import hmac
import logging
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinakes.core.errors import ConfigError
from pinakes.core.identity import ADMIN, Identity
from pinakes.server.logins.base import Credentials, FixedProof, Proof
from pinakes.server.logins.hashes import hashed_token, is_argon2, is_right, spend_time
from pinakes.server.logins.users_file import TOKEN, Entry, read_users

log = logging.getLogger(__name__)


class Users:
    """Users of the configuration, with plain or hashed passwords and tokens."""

    is_open = False

    def __init__(self, passwords: Mapping[str, str], tokens: Mapping[str, str]) -> None:
        slow = next((name for name, stored in tokens.items() if is_argon2(stored)), None)
        if slow is not None:
            raise ConfigError(
                f"server.tokens.{slow} is a hash of argon2, which takes long to check with each call: use a random "
                f"token and its hash `sha256:…`, or a password in [server.users]"
            )
        self._passwords = [Entry(name, stored) for name, stored in passwords.items()]
        self._tokens = [
            Entry(name, stored if stored.startswith(TOKEN) else hashed_token(stored)) for name, stored in tokens.items()
        ]

    def identify(self, credentials: Credentials) -> Proof | None:
        among = self._tokens if credentials.user is None else self._passwords
        found = _whose(credentials, among)
        return None if found is None else FixedProof(_identity(found))


class UsersFile:
    """Users of a file, which is re-read when it changes: a removed user loses access immediately. While the file is
    unreadable the previous users stay valid and the error is logged, so that an editing mistake locks no user out."""

    is_open = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._seen = self._stamp()
        self._entries = read_users(path)

    def entries(self) -> list[Entry]:
        with self._lock:
            seen = self._stamp()
            if seen != self._seen:
                self._seen = seen
                try:
                    self._entries = read_users(self._path)
                except ConfigError as error:
                    log.error("%s. Its users stay as they were.", error.message)
            return self._entries

    def identify(self, credentials: Credentials) -> Proof | None:
        kind = "token" if credentials.user is None else "password"
        found = _whose(credentials, [entry for entry in self.entries() if entry.kind == kind])
        return None if found is None else _OfFile(self, found)

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None  # the next read reports the reason
        return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass(frozen=True, slots=True)
class _OfFile:
    """A proof that is valid while its line is in the file."""

    file: UsersFile
    entry: Entry

    def identity(self) -> Identity | None:
        return _identity(self.entry) if self.entry in self.file.entries() else None


def _whose(credentials: Credentials, among: Sequence[Entry]) -> Entry | None:
    """Returns the entry of the credentials. A password check always runs the same number of argon2 checks, for known
    and unknown users and for plain and hashed passwords, so that the response time does not show which users exist."""
    given = credentials.secret
    if given is None:
        return None
    if credentials.user is None:
        digest = hashed_token(given).encode()
        return next((entry for entry in among if hmac.compare_digest(entry.stored.lower().encode(), digest)), None)
    hashed = [entry for entry in among if is_argon2(entry.stored)]
    rounds = max(Counter(entry.name for entry in hashed).values(), default=1)
    named = [entry for entry in among if entry.name == credentials.user]
    right = [entry for entry in named if is_right(entry.stored, given)]
    for _ in range(rounds - sum(is_argon2(entry.stored) for entry in named)):
        spend_time(given, hashed[0].stored if hashed else None)
    return right[0] if right else None


def _identity(entry: Entry) -> Identity:
    return Identity(entry.name, roles=frozenset({ADMIN}) if entry.is_admin else frozenset())
