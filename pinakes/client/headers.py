"""The headers of requests and responses.

The password is sent once; the server answers with a token for later calls. The cookie of the server identifies the
session.
"""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

import pyarrow.flight as fl

from pinakes.client.login import Login

COOKIE = "arrow_flight_session_id"


class Headers(fl.ClientMiddlewareFactory):  # type: ignore[misc]
    """The headers that all calls of one client share."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._given: str | None = None
        self._cookie: str | None = None

    def start_call(self, info: Any) -> _Call:
        return _Call(self)

    def forget_login(self) -> bool:
        """Drops the token, so that the next call sends the credentials again; returns whether there was a token."""
        given, self._given = self._given, None
        return given is not None

    def sent(self) -> dict[str, str]:
        authorization = self._given or self._login.header
        sent = {"authorization": authorization, "cookie": self._cookie, "x-pinakes-client": "shell"}
        return {name: value for name, value in sent.items() if value is not None}

    def received(self, headers: Mapping[str, list[Any]]) -> None:
        for name, values in headers.items():
            for value in values:
                text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                if name.lower() == "authorization" and text.lower().startswith("bearer "):
                    self._given = text
                elif name.lower() == "set-cookie":
                    self._cookie = _cookie(text) or self._cookie


class _Call(fl.ClientMiddleware):  # type: ignore[misc]
    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def sending_headers(self) -> dict[str, str]:
        return self._headers.sent()

    def received_headers(self, headers: Mapping[str, list[Any]]) -> None:
        self._headers.received(headers)


def _cookie(header: str) -> str | None:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else f"{COOKIE}={found.value}"
