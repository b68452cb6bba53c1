"""Passwords and tokens as they are stored, and whether a given one is it. The only door to argon2."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from pinakes.core.users_file import TOKEN

_hasher = PasswordHasher()


def hashed_password(password: str) -> str:
    return _hasher.hash(password)


def new_token() -> str:
    """One that nobody guesses: 256 bits."""
    return f"pnk_{secrets.token_urlsafe(32)}"


def hashed_token(token: str) -> str:
    """A plain hash is enough for what is random: there is nothing to try out."""
    return TOKEN + hashlib.sha256(token.encode()).hexdigest()


def is_right(stored: str, given: str) -> bool:
    """Whether a secret is the stored one: a hash of argon2, one of a token, or the secret itself."""
    if stored.startswith("$argon2"):
        try:
            return _hasher.verify(stored, given)
        except (VerificationError, InvalidHashError):
            return False
    if stored.startswith(TOKEN):
        stored, given = stored.lower(), hashed_token(given)
    return hmac.compare_digest(stored.encode(), given.encode())


def is_nobodys(given: str) -> bool:
    """What is asked for a user that there is not: takes as long as for one that there is, so that nobody can tell."""
    is_right(_some_hash(), given)
    return False


@cache
def _some_hash() -> str:
    return hashed_password(secrets.token_urlsafe(16))
