"""The issuer of OpenID Connect tokens: its endpoints and its signing keys, which change over time.

Keys are re-fetched when a token names an unknown key, so that new keys work immediately, but at most every few seconds,
since a client can invent key names. They are also re-fetched after a maximum age, so that revoked keys are rejected.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from jwt import PyJWK
from jwt.exceptions import PyJWTError

from pinakes.server.logins.base import Unreachable
from pinakes.server.logins.http import get_json

PAUSE = 5.0
"""Minimum seconds between two fetches."""
WAITING = 32
"""Maximum number of calls with unknown keys that wait for a fetch: a client can invent key names, and each call holds a
thread."""


class Issuer:
    """Contacts the issuer on first use, so that the server starts while the issuer is down."""

    def __init__(self, address: str, keys_age: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self._keys_age, self._clock = keys_age, clock
        self._lock = threading.Lock()
        self._unknown_keys = threading.BoundedSemaphore(WAITING)
        self._endpoints: dict[str, Any] = {}
        self._keys: dict[str, PyJWK] = {}
        self._fetched: float | None = None
        self._tried: float | None = None

    def endpoint(self, name: str) -> str:
        """Returns an address from the issuer's discovery document."""
        with self._lock:
            return self._endpoint(name)

    def key(self, kid: str | None) -> PyJWK | None:
        """Returns the key of that name; None if the issuer has no such key. A token without a key name uses the only
        key."""
        known = None if self._are_old() else self._known(kid)
        if known is not None:  # does not wait for a fetch of another thread
            return known
        if self._known(kid) is not None:
            return self._fetched_key(kid)
        if not self._unknown_keys.acquire(blocking=False):
            raise Unreachable
        try:
            return self._fetched_key(kid)
        finally:
            self._unknown_keys.release()

    def _fetched_key(self, kid: str | None) -> PyJWK | None:
        with self._lock:
            known = None if self._are_old() else self._known(kid)
            if known is None and self._may_fetch():
                self._fetch()
                known = self._known(kid)
            if self._fetched is None or (self._are_old() and known is None):
                raise Unreachable
            return known

    def _known(self, kid: str | None) -> PyJWK | None:
        if kid is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    def _are_old(self) -> bool:
        return self._fetched is None or self._clock() - self._fetched > self._keys_age

    def _may_fetch(self) -> bool:
        return self._tried is None or self._clock() - self._tried >= PAUSE

    def _fetch(self) -> None:
        self._tried = self._clock()
        found = get_json(self._endpoint("jwks_uri")).get("keys", [])
        self._keys = {str(key.get("kid", "")): made for key in found if (made := _signing(key)) is not None}
        self._fetched = self._clock()

    def _endpoint(self, name: str) -> str:
        if not self._endpoints:
            document = get_json(f"{self.address.rstrip('/')}/.well-known/openid-configuration")
            if document.get("issuer") != self.address:
                raise Unreachable  # the document of another issuer is not trusted
            self._endpoints = document
        found = self._endpoints.get(name)
        if not isinstance(found, str):
            raise Unreachable
        return found


def _signing(key: Any) -> PyJWK | None:
    """Returns a public signing key; None for other keys of the set."""
    if not isinstance(key, dict) or key.get("use", "sig") != "sig" or key.get("kty") == "oct":
        return None
    try:
        return PyJWK(key)
    except PyJWTError:
        return None
