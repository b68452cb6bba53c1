"""The identity of a caller: the user, the token that is passed on to catalogs, and the roles. A repr does not show the
token.
"""

from __future__ import annotations

import getpass
import hashlib
from dataclasses import dataclass, field

ADMIN = "admin"
"""The role of administrators."""


@dataclass(frozen=True, slots=True)
class Identity:
    user: str
    token: str | None = field(default=None, repr=False)
    roles: frozenset[str] = frozenset()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the token for cache keys; empty without a token."""
        return hashlib.sha256(self.token.encode()).hexdigest() if self.token else ""

    @property
    def reader(self) -> str:
        """The cache key of the read privileges of this user with this token."""
        return f"{self.user} {self.fingerprint}"

    @property
    def is_admin(self) -> bool:
        return ADMIN in self.roles


def local_identity(user: str | None = None) -> Identity:
    """Returns the identity of the user of this process, an administrator of the embedded engine."""
    if user is None:
        try:
            user = getpass.getuser()
        except (OSError, KeyError):  # no such user in the password database, as in some containers
            user = "pinakes"
    return Identity(user, roles=frozenset({ADMIN}))
