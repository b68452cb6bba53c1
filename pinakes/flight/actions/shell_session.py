"""PinakesSession: returns the state of a remote shell's session and its pending warnings."""

from __future__ import annotations

from typing import Any

from pinakes.api.local_shell_backend import LocalShellBackend
from pinakes.core.access.redaction import without_paths
from pinakes.core.version import __version__
from pinakes.flight.actions.shell import Body
from pinakes.flight.request import FlightRequest


def shell_session(body: Body, request: FlightRequest) -> dict[str, Any]:
    return session_values(request)


def session_values(request: FlightRequest) -> dict[str, Any]:
    backend = LocalShellBackend(request.connection.session)
    warnings = backend.take_warnings()
    return {
        "id": request.connection.cookie.decode(),
        "user": request.user,
        "version": __version__,
        "standing": backend.position,
        "warnings": warnings if request.identity.is_admin else [without_paths(each) for each in warnings],
    }
