"""Callers for the tests of security: servers with a configuration, ways to log in, tokens of Keycloak and others."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as adbc
import pyarrow.flight as fl
import requests
from adbc_driver_flightsql import DatabaseOptions

from pinakes.flight.wire.messages import message, pack
from tests.flight.serving import Serving, serving
from tests.servers.base import Facts

AUDIENCE = "pinakes"


@contextmanager
def configured(directory: Path, toml: str, *arguments: str) -> Iterator[Serving]:
    """A server with this configuration."""
    file = directory / "pinakes.toml"
    file.write_text(toml)
    with serving("--config", str(file), *arguments) as server:
        yield server


def as_user(name: str, password: str) -> dict[str, object]:
    return {"db_kwargs": {"username": name, "password": password}}


def with_token(token: str) -> dict[str, object]:
    return {"db_kwargs": {DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {token}"}}


def asked(server: Serving, sql: str, **options: object) -> list[tuple[Any, ...]]:
    with server.connect(**options) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def whoami(server: Serving, **options: object) -> str:
    return str(asked(server, "SELECT current_user", **options)[0][0])


def is_refused(server: Serving, **options: object) -> bool:
    """Whether nobody may call so, and nothing else is the matter."""
    try:
        whoami(server, **options)
    except adbc.Error as error:
        if "UNAUTHENTICATED" in str(error) and "Traceback" not in str(error):
            return True
        raise
    return False


def is_turned_away(server: Serving, token: str) -> bool:
    """The same for a token whose end may come at any moment: ADBC's connections can't be closed then."""
    with fl.connect(server.uri) as client:
        try:
            info = client.get_flight_info(query("SELECT 1"), headers(token))
            client.do_get(info.endpoints[0].ticket, headers(token)).read_all()  # only so many results may wait
        except fl.FlightUnauthenticatedError:
            return True
    return False


def headers(token: str, cookie: str = "") -> fl.FlightCallOptions:
    given = [(b"authorization", f"Bearer {token}".encode())]
    return fl.FlightCallOptions(headers=[*given, (b"cookie", cookie.encode())] if cookie else given)


def query(sql: str) -> fl.FlightDescriptor:
    return fl.FlightDescriptor.for_command(pack(message("CommandStatementQuery")(query=sql)))


class _Keeps(fl.ClientMiddleware):
    def __init__(self, kept: list[str]) -> None:
        self._kept = kept

    def received_headers(self, headers: dict[str, list[str]]) -> None:
        self._kept += headers.get("set-cookie", [])


class Cookies(fl.ClientMiddlewareFactory):
    """Keeps the cookies that a server gives."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def start_call(self, info: fl.CallInfo) -> _Keeps:
        return _Keeps(self.kept)


# --- tokens ------------------------------------------------------------------------------------------------------


def granted(realm: str, user: str, client: str = "pinakes", **more: str) -> str:
    """The token that Keycloak gives a user whose password is their name."""
    form = {"client_id": client, "client_secret": f"{client}-secret", "scope": "openid", **more}
    grant = {"grant_type": "password", "username": user, "password": user}
    answer = requests.post(f"{realm}/protocol/openid-connect/token", {**form, **grant}, timeout=60)
    answer.raise_for_status()
    return str(answer.json()["access_token"])


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    head, body = (json.loads(base64.urlsafe_b64decode(p + "=" * (-len(p) % 4))) for p in token.split(".")[:2])
    return head, body


def unsigned(head: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    return f"{_encoded(head)}.{_encoded(body)}."


def _encoded(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def oidc(keycloak: Facts, **settings: object) -> str:
    """The section of the configuration that trusts the realm."""
    values = {"issuer": keycloak["realm_uri"], "audience": AUDIENCE, "administrator_roles": ["admin"], **settings}
    return "[server.oidc]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
