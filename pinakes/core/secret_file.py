"""The file of persistent secrets (CREATE PERSISTENT SECRET), encrypted at rest.

Each secret is sealed with AES-256-GCM under a random nonce; its owner and name are authenticated with it, so that no
entry can be exchanged for another. Keys come from the variable PINAKES_SECRET_KEY, otherwise from a file that only its
owner may read, which is created with the first secret. With several keys the first encrypts and all decrypt: to rotate
keys, put a new one first and start once, which seals every secret again. If the key of a secret is lost, its name is
still listed.

The file is replaced atomically, and a lock serializes the changes of several processes.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinakes.core.errors import ConfigError, InvalidArgument, NotSupportedError, SecretUnreadable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FILE, KEY_FILE = "secrets.json", "secret.key"
"""File names in the data directory."""
MOST = 1000
"""Maximum number of persistent secrets per user."""
_VERSION = 1
_KEY_BYTES, _NONCE_BYTES = 32, 12


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored secret. `values` has its options as in CREATE SECRET, and is None when no key decrypts it."""

    owner: str
    name: str
    shared: bool
    values: Mapping[str, str] | None = field(repr=False)
    key: str = ""
    """The id of the key that it is sealed with: a prefix of the key's SHA-256."""
    sealed: str = field(default="", repr=False)


class SecretFile:
    """The file in a data directory. `given` are the keys of the environment, `key_file` is the path of the key file
    used otherwise.
    """

    def __init__(self, directory: Path, given: str | None, key_file: Path | None) -> None:
        self._path = directory / FILE
        self._given = given
        self._key_file = key_file or directory / KEY_FILE
        self.problem = ""
        """The reason why no key could be read."""

    def read(self) -> list[Stored]:
        """Returns the stored secrets. Secrets sealed with a key other than the first are sealed again."""
        if not self._path.exists():
            return []
        with self._locked():
            found = self._stored()
            try:
                keys = self._keys()
            except (SecretUnreadable, NotSupportedError) as error:  # reported when one of the secrets is used
                self.problem, keys = error.message, {}
            read = [self._opened(entry, keys) for entry in found]
            first = next(iter(keys), None)
            if first is not None and any(entry.values is not None and entry.key != first for entry in read):
                self._write(read, keys)
        return read

    def put(self, secret: Stored) -> None:
        """Stores a secret, replacing one with the same owner and name."""
        with self._locked():
            others = [entry for entry in self._stored() if _name(entry) != _name(secret)]
            if sum(entry.owner == secret.owner for entry in others) >= MOST:
                raise InvalidArgument(f"a user has at most {MOST} persistent secrets: DROP SECRET removes one")
            self._write([*others, secret], self._keys(create=True))

    def remove(self, owner: str, name: str, shared: bool) -> None:
        """Removes a secret, also one that can't be decrypted."""
        with self._locked():
            found = self._stored()
            kept = [entry for entry in found if _name(entry) != (owner if not shared else "", name, shared)]
            if len(kept) != len(found):
                self._write(kept, {})

    # --- the file -------------------------------------------------------------------------------------------------

    def _stored(self) -> list[Stored]:
        if not self._path.exists():
            return []
        try:
            document = json.loads(self._path.read_text(encoding="utf-8"))
            if document["version"] != _VERSION:
                raise ValueError(f"version {document['version']}")
            return [
                Stored(str(e["owner"]), str(e["name"]), bool(e["shared"]), None, str(e["key"]), str(e["sealed"]))
                for e in document["secrets"]
            ]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"the file of persistent secrets {str(self._path)!r} can't be read ({type(error).__name__}). Restore "
                f"it from a backup, or move it away and create the secrets again."
            ) from error

    def _write(self, entries: list[Stored], keys: Mapping[str, AESGCM]) -> None:
        sealed = [_sealed(entry, keys) for entry in entries]
        listed = [
            {"owner": e.owner, "name": e.name, "shared": e.shared, "key": e.key, "sealed": e.sealed} for e in sealed
        ]
        text = json.dumps({"version": _VERSION, "secrets": listed}, indent=1)
        beside = self._path.with_name(f".{FILE}.{secrets.token_hex(8)}")
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise ConfigError(f"persistent secrets can't be stored in {str(self._path)!r}: {error.strerror}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path.with_name(f".{FILE}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigError(f"persistent secrets can't be stored in {str(self._path)!r}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    # --- keys ------------------------------------------------------------------------------------------------------

    def _keys(self, *, create: bool = False) -> dict[str, AESGCM]:
        """Returns the keys by fingerprint, in order; empty if there are none yet."""
        if self._given is not None:
            return _parsed(self._given.split(","), "the variable PINAKES_SECRET_KEY")
        path = self._key_file
        if not path.exists():
            if not create:
                return {}
            _make_key(path)
        try:
            mode, text = path.stat().st_mode, path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise SecretUnreadable(f"the file of keys {str(path)!r} can't be read: {error}") from error
        if mode & 0o077:
            raise SecretUnreadable(
                f"the file of keys {str(path)!r} may be read by others than its owner: chmod 600 it, and consider a "
                f"new key"
            )
        return _parsed([line for line in text.splitlines() if not line.startswith("#")], f"the file {str(path)!r}")

    def _opened(self, entry: Stored, keys: Mapping[str, AESGCM]) -> Stored:
        from cryptography.exceptions import InvalidTag

        key = keys.get(entry.key)
        if key is None:
            return entry
        try:
            data = base64.b64decode(entry.sealed, validate=True)
            values = json.loads(key.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], _bound(entry)))
        except (InvalidTag, binascii.Error, ValueError):
            return entry
        return replace(entry, values={str(name): str(value) for name, value in values.items()})


def unreadable(name: str, key: str, problem: str = "") -> SecretUnreadable:
    why = problem or (
        f"its key ({key}) is not among those of PINAKES_SECRET_KEY or of the file of keys, or its entry was changed"
    )
    return SecretUnreadable(
        f"secret '{name}' can't be decrypted: {why}. Give that key again and restart, or CREATE OR REPLACE PERSISTENT "
        f"SECRET {name} (…) with new values, or DROP SECRET {name}"
    )


def _name(entry: Stored) -> tuple[str, str, bool]:
    return ("" if entry.shared else entry.owner), entry.name, entry.shared


def _bound(entry: Stored) -> bytes:
    return json.dumps(["pinakes secret", _VERSION, entry.owner, entry.name, entry.shared]).encode()


def _sealed(entry: Stored, keys: Mapping[str, AESGCM]) -> Stored:
    """Seals an entry with the first key. An entry that could not be decrypted is unchanged."""
    first = next(iter(keys), None)
    if entry.values is None or first is None:
        return entry
    nonce = secrets.token_bytes(_NONCE_BYTES)
    data = nonce + keys[first].encrypt(nonce, json.dumps(dict(entry.values)).encode(), _bound(entry))
    return replace(entry, key=first, sealed=base64.b64encode(data).decode())


def _parsed(texts: list[str], where: str) -> dict[str, AESGCM]:
    make = _cipher()
    found: dict[str, AESGCM] = {}
    for text in filter(None, (text.strip() for text in texts)):
        try:
            key = base64.urlsafe_b64decode(text.encode())
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != _KEY_BYTES:
            raise SecretUnreadable(
                f"{where} has something else than keys: each must be 32 random bytes in base64, such as "
                f"`openssl rand -base64 32` prints"
            )
        found[hashlib.sha256(key).hexdigest()[:8]] = make(key)
    if not found:
        raise SecretUnreadable(f"{where} has no key: it must be 32 random bytes in base64")
    return found


def _make_key(path: Path) -> None:
    text = base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)).decode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise SecretUnreadable(f"the file of keys {str(path)!r} can't be made: {error.strerror}") from error
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())


def _cipher() -> Callable[[Any], AESGCM]:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise NotSupportedError(
            "persistent secrets need cryptography, which is not installed: pip install 'pinakes[server]'"
        ) from error
    return AESGCM
