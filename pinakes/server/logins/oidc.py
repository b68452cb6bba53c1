"""OpenID Connect: bearer tokens of an issuer, and the password grant for clients that support only user and password.

Only asymmetric signatures are accepted: neither `none` nor a shared secret, for which the public key could be misused.
A token must come from this issuer, be for this audience, and not be expired.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import jwt
from jwt.exceptions import PyJWTError

from pinakes.config.server import OidcConfig
from pinakes.core.identity import ADMIN, Identity
from pinakes.server.logins.base import Credentials, FixedProof, Proof, Unreachable
from pinakes.server.logins.http import post_form
from pinakes.server.logins.issuer import Issuer

log = logging.getLogger(__name__)

ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)  # fmt: skip
EARLY = 10.0
"""Seconds before its expiry that a token is renewed."""
LONGEST_NAME = 256


class Oidc:
    is_open = False

    def __init__(self, config: OidcConfig, issuer: Issuer | None = None) -> None:
        self._config = config
        self._issuer = issuer or Issuer(config.issuer, config.keys_age)

    def identify(self, credentials: Credentials) -> Proof | None:
        if credentials.secret is None:
            return None
        if credentials.user is None:
            found = self.verified(credentials.secret)
            return None if found is None else FixedProof(found[0])
        if not self._config.password_grant or not credentials.user or not credentials.secret:
            return None
        return self._granted({"grant_type": "password", "username": credentials.user, "password": credentials.secret})

    def verified(self, token: str) -> tuple[Identity, float] | None:
        """Returns the identity and the expiry of a token; None if it is invalid. The reason is logged only."""
        try:
            claims = self._claims(token)
            until = float(claims["exp"])
        except (PyJWTError, OverflowError) as error:
            log.info("a token was refused: %s", error)
            return None
        identity = self._identity(token, claims)
        return None if identity is None else (identity, until)

    def _claims(self, token: str) -> Mapping[str, Any]:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise jwt.InvalidAlgorithmError(f"the algorithm {algorithm!r} is not taken")
        key = self._issuer.key(header.get("kid"))
        if key is None:
            raise jwt.InvalidKeyError("the issuer has no such key")
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=self._config.audience,
            issuer=self._config.issuer,
            leeway=self._config.clock_skew,
            options={"require": ["exp", "iss", "aud"]},
        )
        return claims

    def _identity(self, token: str, claims: Mapping[str, Any]) -> Identity | None:
        user = _within(claims, self._config.user_claim)
        if not isinstance(user, str) or not user.strip() or not user.isprintable() or len(user) > LONGEST_NAME:
            log.warning("a token was refused: its claim %r names no user", self._config.user_claim)
            return None
        roles = _within(claims, self._config.roles_claim)
        held = set(map(str, roles)) if isinstance(roles, list) else {str(roles)}
        is_admin = not held.isdisjoint(self._config.administrator_roles)
        others = (
            held - {ADMIN} if isinstance(roles, list | str) else set()
        )  # the issuer may use a role of that name for another purpose
        return Identity(user, token, frozenset(others | {ADMIN} if is_admin else others))

    def _granted(self, grant: Mapping[str, str]) -> Granted | None:
        answer = self.grant(grant)
        return None if answer is None else Granted(self, *answer)

    def grant(self, grant: Mapping[str, str]) -> tuple[Identity, float, str | None] | None:
        """Requests a token for a password or a refresh token. Returns its identity, its expiry and the refresh
        token."""
        client = {"client_id": self._config.client_id or "", "scope": self._config.scope}
        secret = {"client_secret": self._config.client_secret} if self._config.client_secret else {}
        status, answer = post_form(self._issuer.endpoint("token_endpoint"), {**client, **secret, **grant})
        if status in (400, 401, 403) and answer.get("error") in ("invalid_grant", "access_denied"):
            return None
        token, refresh = answer.get("access_token"), answer.get("refresh_token")
        if status != 200 or not isinstance(token, str):
            log.warning("the identity provider refuses this server: %s %s", status, answer.get("error"))
            raise Unreachable
        found = self.verified(token)
        return None if found is None else (*found, refresh if isinstance(refresh, str) else None)


class Granted:
    """The proof of a password login: the token is renewed as long as the issuer allows it."""

    def __init__(
        self, oidc: Oidc, identity: Identity, until: float, refresh: str | None, now: Callable[[], float] = time.time
    ) -> None:
        self._oidc, self._now = oidc, now
        self._lock = threading.Lock()
        self._identity: Identity | None = identity
        self._until, self._refresh = until, refresh

    def identity(self) -> Identity | None:
        with self._lock:
            if self._identity is not None and self._now() > self._until - EARLY:
                self._renew()
            return self._identity

    def _renew(self) -> None:
        is_over = self._now() >= self._until
        if self._refresh is None:
            self._identity = None if is_over else self._identity
            return
        try:
            found = self._oidc.grant({"grant_type": "refresh_token", "refresh_token": self._refresh})
        except Unreachable:
            if is_over:
                raise
            return
        user = self._identity.user if self._identity is not None else None
        if found is None or found[0].user != user:
            self._identity = None
            return
        self._identity, self._until, refresh = found
        self._refresh = refresh or self._refresh


def _within(claims: Mapping[str, Any], path: str) -> Any:
    """Returns a claim by its name or by its dotted path."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
