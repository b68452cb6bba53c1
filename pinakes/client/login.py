"""As whom one calls: a user with a password, a token, or nobody. Neither password nor token shows in a repr."""

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
        """Whether there is anything to tell."""
        return self.token is not None or self.user is not None

    @property
    def header(self) -> str | None:
        """How one introduces oneself."""
        if self.token is not None:
            return f"Bearer {self.token}"
        if self.user is None:
            return None
        return "Basic " + base64.b64encode(f"{self.user}:{self.password or ''}".encode()).decode()
