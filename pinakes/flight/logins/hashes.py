"""Passwords and tokens as they are stored, and whether a given one is it. The only door to argon2."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import cache

from argon2 import PasswordHasher, extract_parameters
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
    """Do the work of one argon2 check in vain, with the parameters of the hash `like`: so that the time that an answer
    takes does not depend on whether the user exists."""
    is_right(_dummy_hash("" if like is None else like.rpartition("$")[0].rpartition("$")[0]), given)


@cache
def _dummy_hash(parameters: str) -> str:
    try:
        hasher = PasswordHasher.from_parameters(extract_parameters(f"{parameters}$c2FsdHNhbHQ$aGFzaGhhc2g"))
    except InvalidHashError:
        hasher = _hasher
    return hasher.hash(secrets.token_urlsafe(16))
