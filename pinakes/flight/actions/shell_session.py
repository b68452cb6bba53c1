"""PinakesSession: returns the state of a remote shell's session and its pending warnings."""

from __future__ import annotations

from typing import Any

from pinakes.api.local_shell_backend import LocalShellBackend
from pinakes.core.redaction import without_paths
from pinakes.core.version import __version__
from pinakes.flight.actions.shell import Body
from pinakes.flight.service import RequestContext


def shell_session(body: Body, ask: RequestContext) -> dict[str, Any]:
    return told(ask)


def told(ask: RequestContext) -> dict[str, Any]:
    seat = LocalShellBackend(ask.connection.session)
    warnings = seat.take_warnings()
    return {
        "id": ask.connection.cookie.decode(),
        "user": ask.user,
        "version": __version__,
        "standing": seat.standing,
        "warnings": warnings if ask.caller.identity.is_admin else [without_paths(each) for each in warnings],
    }
