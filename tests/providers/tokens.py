"""Tokens of Keycloak's users and clients, as a client of the engine would bring them."""

from __future__ import annotations

import requests

from tests.servers.base import Facts


def token_of(keycloak: Facts, user: str | None = None, client: str = "engine") -> str:
    """A user's token, or the client's own. Those of the client `brief` last three seconds."""
    form = {"client_id": client, "client_secret": f"{client}-secret", "scope": "openid"}
    grant = {"grant_type": "password", "username": user, "password": user} if user else {}
    response = requests.post(keycloak["token_uri"], {"grant_type": "client_credentials", **form, **grant}, timeout=60)
    response.raise_for_status()
    return str(response.json()["access_token"])
