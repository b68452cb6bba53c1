"""Authentication of callers over HTTP: by a bearer token, or by a function of the worker."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from pathlib import Path

Authenticate = Callable[[Mapping[str, str]], str | None]
"""Returns the name of the caller from the headers of a request (in lower case); None for an unknown caller."""


class BearerTokens:
    """Names by token, from lines `name token`. Only hashes of the tokens are kept."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._names = {_hash(token): name for name, token in tokens.items()}

    @classmethod
    def from_file(cls, path: str | Path) -> BearerTokens:
        lines = [line.split() for line in Path(path).read_text().splitlines() if line.strip() and line[0] != "#"]
        if not lines or any(len(line) != 2 for line in lines):
            raise ValueError(f"{path} must have lines of a name and a token")
        return cls(dict(lines))

    def __call__(self, headers: Mapping[str, str]) -> str | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        given = _hash(token.strip())
        return next((name for known, name in self._names.items() if hmac.compare_digest(known, given)), None)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
