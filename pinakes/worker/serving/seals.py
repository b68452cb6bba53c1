"""Seals opaque data for a caller. Over HTTP it is encrypted and bound to the caller that received it: a value of
another caller is refused. Over a pipe or a local socket the caller is the user who started the worker.
"""

from __future__ import annotations

import hashlib
import os
from typing import Protocol

REFUSED = "this value was not given to this caller, or it was changed"


class Seals(Protocol):
    def seal(self, data: bytes, what: str, caller: str) -> bytes: ...

    def open(self, data: bytes, what: str, caller: str) -> bytes: ...


class Plain:
    """No seal."""

    def seal(self, data: bytes, what: str, caller: str) -> bytes:
        return data

    def open(self, data: bytes, what: str, caller: str) -> bytes:
        return data


PLAIN = Plain()


class Sealed:
    """AES-256-GCM. The kind of a value and its caller are authenticated with it. The key lives as long as the process,
    or is given, so that several processes can open each other's values.
    """

    _NONCE = 12

    def __init__(self, key: bytes | None = None) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError as error:
            raise RuntimeError(
                "serving over HTTP needs the package cryptography: pip install 'pinakes[server]'"
            ) from error
        self._cipher = AESGCM(hashlib.sha256(key).digest() if key is not None else AESGCM.generate_key(256))

    def seal(self, data: bytes, what: str, caller: str) -> bytes:
        nonce = os.urandom(self._NONCE)
        return nonce + bytes(self._cipher.encrypt(nonce, data, _bound(what, caller)))

    def open(self, data: bytes, what: str, caller: str) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return bytes(self._cipher.decrypt(data[: self._NONCE], data[self._NONCE :], _bound(what, caller)))
        except (InvalidTag, ValueError):
            raise PermissionError(f"{what}: {REFUSED}") from None


def _bound(what: str, caller: str) -> bytes:
    return f"{what}\0{caller}".encode()
