"""The secrets of an engine: who has which, and which may not go because a catalog needs it.

A secret belongs to the user who made it, and names are per user. Shared ones are made and dropped by administrators,
who may use them all: CREATE SHARED SECRET makes one for everybody, the configuration one for the users and roles that
it names. What a user may not use looks to that user as if it were not there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import (
    ConfigError,
    InvalidArgument,
    NotSupportedError,
    PermissionDenied,
    SecretExists,
    SecretInUse,
    SecretNotFound,
    listing,
)
from pinakes.core.identity import Identity
from pinakes.core.names import Part, match
from pinakes.core.secrets import EVERYONE, STORAGE, Secret, covers, parse_secret

if TYPE_CHECKING:
    from pinakes.core.secret_file import SecretFile

logger = logging.getLogger(__name__)

MOST, LARGEST = 1_000, 100_000
"""Limits on the secrets of one user, which are kept in memory: their number, and the characters of one."""
SHARED = ""
"""The owner in the reference of a shared secret: no user has this name."""


class SecretRef(NamedTuple):
    """Which secret is meant, whatever its value is by now."""

    owner: str
    name: str


class SecretStore:
    """`lock` is held while a catalog is mounted with a secret or a secret is dropped: each sees the other.

    Readers see one consistent mapping: changes replace it.
    """

    def __init__(self, file: SecretFile | None = None) -> None:
        self._file = file
        self._secrets: dict[SecretRef, Secret] = {}
        self._unreadable: dict[SecretRef, str] = {}
        """Persistent secrets that can't be decrypted, and the keys that they are sealed with."""
        self.lock = threading.RLock()

    def load(self) -> None:
        """Read the persistent secrets. One that can't be decrypted is known by its name: using it is an error."""
        try:
            stored = [] if self._file is None else self._file.read()
        except ConfigError as error:
            logger.warning("%s", error.message)
            return
        for entry in stored:
            ref = SecretRef(SHARED if entry.shared else entry.owner, entry.name)
            if ref in self._secrets:  # the configuration has one of this name
                continue
            if entry.values is None:
                self._unreadable[ref] = entry.key
                continue
            users = (EVERYONE,) if entry.shared else ()
            secret = parse_secret(
                entry.name, entry.owner, entry.values, shared=entry.shared, users=users, persistent=True
            )
            self._secrets[ref] = secret

    def put(self, secret: Secret, identity: Identity, *, replace: bool = False) -> None:
        """Keep a secret; one of the same name is in the way, or replaced and wiped."""
        self._check_may_share(secret.shared, identity)
        ref = ref_of(secret)
        with self.lock:
            old = self._secrets.get(ref)
            self._check_size(secret, is_new=old is None)
            if (old is not None or ref in self._unreadable) and not replace:
                raise SecretExists(f"secret '{secret.name}' already exists. Use CREATE OR REPLACE SECRET to change it.")
            self._store(secret, old)
            self._secrets = {**self._secrets, ref: secret}
        if old is not None:
            old.wipe()

    def find(self, part: Part, identity: Identity) -> SecretRef | None:
        """The secret that a name means to this user: their own before a shared one."""
        secrets = self._secrets
        for owner in (identity.user, SHARED):
            names = [ref.name for ref, secret in secrets.items() if ref.owner == owner and secret.serves(identity)]
            names += [ref.name for ref in self._unreadable if ref.owner == owner]
            name = match(part, names, "secret")
            if name is not None:
                return SecretRef(owner, name)
        return None

    def require(self, part: Part, identity: Identity) -> SecretRef:
        ref = self.find(part, identity)
        if ref is None:
            known = listing({s.name for s in self.visible(identity)})
            raise SecretNotFound(f"secret '{part.text}' does not exist; available: {known}. CREATE SECRET makes one.")
        return ref

    def get(self, ref: SecretRef) -> Secret:
        """The secret as it is now."""
        secret = self._secrets.get(ref)
        if secret is None and ref in self._unreadable:
            from pinakes.core.secret_file import unreadable

            raise unreadable(ref.name, self._unreadable[ref], "" if self._file is None else self._file.problem)
        if secret is None:
            raise SecretNotFound(f"secret '{ref.name}' was dropped. CREATE SECRET makes it again.")
        return secret

    def drop(self, ref: SecretRef, identity: Identity, users: Iterable[str]) -> None:
        """Wipe a secret, unless catalogs use it; `users` are their names."""
        self._check_may_share(ref.owner == SHARED, identity)
        with self.lock:
            names = list(users)
            if names:
                raise SecretInUse(
                    f"secret '{ref.name}' is referenced by attached catalogs: {', '.join(names)}. "
                    f"DETACH the catalog{'s' if len(names) > 1 else ''} first."
                )
            if ref in self._unreadable:
                assert self._file is not None
                self._file.remove(ref.owner, ref.name, ref.owner == SHARED)
                del self._unreadable[ref]
                return
            secret = self.get(ref)
            if secret.persistent and self._file is not None:
                self._file.remove(secret.owner, secret.name, secret.shared)
            self._secrets = {r: s for r, s in self._secrets.items() if r != ref}
        secret.wipe()

    def visible(self, identity: Identity) -> list[Secret]:
        """The secrets that a user may use: their own, and the shared ones that no own one hides."""
        secrets = self._secrets
        found = {ref.name: s for ref, s in secrets.items() if ref.owner == SHARED and s.serves(identity)}
        found |= {ref.name: s for ref, s in secrets.items() if ref.owner == identity.user}
        return [secret for _, secret in sorted(found.items())]

    def for_path(self, path: str, identity: Identity) -> Secret | None:
        """The secret that serves a path: the one with the longest scope that the path begins with, an own one first."""
        fits = [s for s in self.visible(identity) if s.type in STORAGE and covers(s.scope, path)]
        return max(fits, key=lambda s: (len(s.scope.rstrip("/")), not s.shared, s.name), default=None)

    def close(self) -> None:
        with self.lock:
            secrets, self._secrets = self._secrets, {}
        for secret in secrets.values():
            secret.wipe()

    def _store(self, secret: Secret, old: Secret | None) -> None:
        """In the file, if it is persistent; a temporary one in the place of a persistent one removes that."""
        ref = ref_of(secret)
        if secret.persistent:
            if self._file is None:
                raise NotSupportedError(
                    "there is no data directory to keep a persistent secret in (data is :memory:): leave out PERSISTENT"
                )
            from pinakes.core.secret_file import Stored

            self._file.put(Stored(secret.owner, secret.name, secret.shared, secret.options()))
        elif self._file is not None and (ref in self._unreadable or (old is not None and old.persistent)):
            self._file.remove(secret.owner, secret.name, secret.shared)
        self._unreadable.pop(ref, None)

    def _check_size(self, secret: Secret, *, is_new: bool) -> None:
        size = len(secret.scope) + sum(map(len, secret.options().values()))
        if size > LARGEST:
            raise InvalidArgument(f"secret '{secret.name}' has {size:,} characters: the limit is {LARGEST:,}")
        if is_new and sum(ref.owner == ref_of(secret).owner for ref in self._secrets) >= MOST:
            raise InvalidArgument(f"there are {MOST:,} secrets of this user already, which is the limit: drop some")

    def _check_may_share(self, shared: bool, identity: Identity) -> None:
        if shared and not identity.is_admin:
            raise PermissionDenied("only an administrator may make, replace or drop a SHARED secret")


def ref_of(secret: Secret) -> SecretRef:
    return SecretRef(SHARED if secret.shared else secret.owner, secret.name)
