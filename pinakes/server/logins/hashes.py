"""Hashing and verification of passwords and tokens. The only module that imports argon2."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import cache

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

from pinakes.server.logins.users_file import TOKEN

_hasher = PasswordHasher()


def hashed_password(password: str) -> str:
    return _hasher.hash(password)


def new_token() -> str:
    """Returns a new random token of 256 bits."""
    return f"pnk_{secrets.token_urlsafe(32)}"


def hashed_token(token: str) -> str:
    """Returns the hash of a token. A fast hash suffices, since a random token can't be guessed."""
    return TOKEN + hashlib.sha256(token.encode()).hexdigest()


def is_right(stored: str, given: str) -> bool:
    """Whether a secret matches the stored value: an argon2 hash, a token hash, or the secret itself."""
    if is_argon2(stored):
        try:
            return _hasher.verify(stored, given)
        except (VerificationError, InvalidHashError):
            return False
    if not stored.startswith(TOKEN):
        stored = hashed_token(stored)
    return hmac.compare_digest(stored.lower().encode(), hashed_token(given).encode())


def is_argon2(stored: str) -> bool:
    return stored.startswith("$argon2")


def spend_time(given: str, like: str | None) -> None:
    """Runs one argon2 check with the parameters of the hash `like` and ignores the result, so that the response time
    does not show whether the user exists."""
    is_right(_dummy_hash("" if like is None else like.rpartition("$")[0].rpartition("$")[0]), given)


@cache
def _dummy_hash(parameters: str) -> str:
    try:
        hasher = PasswordHasher.from_parameters(extract_parameters(f"{parameters}$c2FsdHNhbHQ$aGFzaGhhc2g"))
    except InvalidHashError:
        hasher = _hasher
    return hasher.hash(secrets.token_urlsafe(16))
