"""The credentials of a client: user and password, a token, or none. Secrets do not appear in a repr."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Login:
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether there are credentials."""
        return self.token is not None or self.user is not None

    @property
    def header(self) -> str | None:
        """The value of the authorization header."""
        if self.token is not None:
            return f"Bearer {self.token}"
        if self.user is None:
            return None
        return "Basic " + base64.b64encode(f"{self.user}:{self.password or ''}".encode()).decode()
