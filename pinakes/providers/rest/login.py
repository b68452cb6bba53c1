"""Authentication of requests, and hints for the user when it is refused.

Values of secrets are kept in buffers that are overwritten when the connection is closed, so that a statement that runs
while its secret is replaced or dropped can finish.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from requests import PreparedRequest, Response
from requests.auth import AuthBase

from pinakes.core.errors import CatalogUnavailable, InvalidArgument, PermissionDenied
from pinakes.core.secrets import Access, Secret

MARGIN = 30.0
"""Seconds before its expiry at which a fetched token is renewed."""


class Login(AuthBase):
    """No authentication. As an explicit object it also keeps `requests` from reading a .netrc file."""

    hint = "it wants to know who asks: ATTACH … (SECRET name), or PASS_TOKEN true"
    """The hint for the user when the catalog refuses."""

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        return request

    def renew(self) -> bool:
        """Whether there are new credentials to try after a refusal."""
        return False

    def confidential(self) -> Iterable[str]:
        """The values to redact if a server repeats them."""
        return ()

    def close(self) -> None:
        """Overwrites the secret values."""


class Header(Login):
    """A fixed header: a token, or a user and a password."""

    def __init__(self, scheme: str, value: str, hint: str, *parts: str) -> None:
        self._scheme = scheme
        self._value = bytearray(value.encode())
        self._parts = [bytearray(part.encode()) for part in parts]
        self.hint = hint

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        request.headers["Authorization"] = f"{self._scheme} {self._value.decode()}"
        return request

    def confidential(self) -> Iterable[str]:
        return (held.decode() for held in (self._value, *self._parts) if held)

    def close(self) -> None:
        for held in (self._value, *self._parts):
            held[:] = bytes(len(held))


class ClientCredentials(Login):
    """A token fetched with client credentials, and renewed before it expires or when it is refused."""

    def __init__(self, secret: Secret, token_uri: str, post: Callable[[str, dict[str, str]], Response]) -> None:
        self.hint = _replace(secret)
        self._form = {"grant_type": "client_credentials", "client_id": secret["CLIENT_ID"]}
        self._client_secret = bytearray(secret["CLIENT_SECRET"].encode())
        for key, name in (("OAUTH_SCOPE", "scope"), ("AUDIENCE", "audience"), ("RESOURCE", "resource")):
            if (value := secret.get(key)) is not None:
                self._form[name] = value
        if secret.get("TOKEN_URI") is None:
            self._form.setdefault("scope", "catalog")  # the scope that a catalog's own token endpoint expects
        self._token_uri = token_uri
        self._post = post
        self._lock = threading.Lock()
        self._token = bytearray()
        self._ends = 0.0

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        with self._lock:
            if not self._token or time.monotonic() >= self._ends:
                self._fetch()
            request.headers["Authorization"] = f"Bearer {self._token.decode()}"
        return request

    def renew(self) -> bool:
        with self._lock:
            self._forget()
        return True

    def confidential(self) -> Iterable[str]:
        return [held.decode() for held in (self._client_secret, self._token) if held]

    def close(self) -> None:
        with self._lock:
            self._forget()
            self._client_secret[:] = bytes(len(self._client_secret))

    def _forget(self) -> None:
        self._token[:] = bytes(len(self._token))
        self._token = bytearray()

    def _fetch(self) -> None:
        response = self._post(self._token_uri, {**self._form, "client_secret": self._client_secret.decode()})
        answer = _json(response)
        if not response.ok:
            said = f"{answer.get('error', '')} {answer.get('error_description', '')}".strip() or response.reason
            for value in self.confidential():
                said = said.replace(value, "***")
            if response.status_code in (400, 401, 403):
                raise PermissionDenied(
                    f"the token server refused client '{self._form['client_id']}': {said}. {self.hint}"
                )
            raise CatalogUnavailable(f"the token server answered with HTTP {response.status_code}: {said}")
        token = answer.get("access_token")
        if not isinstance(token, str) or not token:
            raise CatalogUnavailable("the response of the token server has no token: check TOKEN_URI")
        self._token = bytearray(_checked(token, "the fetched token").encode())
        lasts = answer.get("expires_in")
        self._ends = time.monotonic() + max(float(lasts) - MARGIN, float(lasts) / 2) if lasts else float("inf")


def login_of(
    access: Access, own_token_uri: str, post: Callable[[str, dict[str, str]], Response], signer: Callable[[], Login]
) -> Login:
    """Returns the login for the secret or the session's own token. `signer` creates the one that signs for AWS."""
    if access.token is not None:
        token = _checked(access.token, "the session's token")
        return Header("Bearer", token, "The session's own token was passed on: connect again with a valid one")
    secret = access.of_type("bearer", "basic", "oauth2", "aws")
    if secret is None:
        return Login()
    match secret.type:
        case "bearer":
            return Header("Bearer", _checked(secret["TOKEN"], f"TOKEN of secret '{secret.name}'"), _replace(secret))
        case "basic":
            return _basic(secret)
        case "oauth2":
            if secret.get("TOKEN_URI") is None:
                secret.check_scope(own_token_uri)
            return ClientCredentials(secret, secret.get("TOKEN_URI") or own_token_uri, post)
    return signer()


def _basic(secret: Secret) -> Login:
    user, password = secret["USERNAME"], secret["PASSWORD"]
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return Header("Basic", pair, _replace(secret), password)


def _replace(secret: Secret) -> str:
    return f"CREATE OR REPLACE SECRET {secret.name} (…) with a valid one"


def _checked(token: str, what: str) -> str:
    """Returns a token that is valid in a header. `requests` shows an invalid header in its error, so it never
    gets one.
    """
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidArgument(
            f"{what} is not a valid token: it contains a blank, a line break or a character outside ASCII"
        )
    return token


def _json(response: Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
