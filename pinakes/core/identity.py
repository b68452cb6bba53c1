"""Who asks: the user, the token that goes on to catalogs, the roles. The token never shows in a repr."""

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
        """What stands for the token in cache keys: a SHA-256, or the empty string without one."""
        return hashlib.sha256(self.token.encode()).hexdigest() if self.token else ""

    @property
    def reader(self) -> str:
        """Whose right to read it is, in cache keys: the user's, with this token."""
        return f"{self.user} {self.fingerprint}"

    @property
    def is_admin(self) -> bool:
        return ADMIN in self.roles


def local_identity(user: str | None = None) -> Identity:
    """Whoever runs this process: an administrator of the embedded engine."""
    if user is None:
        try:
            user = getpass.getuser()
        except (OSError, KeyError):  # no such user in the password database, as in some containers
            user = "pinakes"
    return Identity(user, roles=frozenset({ADMIN}))
