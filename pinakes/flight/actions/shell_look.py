"""PinakesLook: returns metadata for a remote shell: tables, functions, syntax, completion names. It runs no statement.

Completion returns the names that the embedded shell would offer. The embedded `Seen` never blocks; this action waits
until the names are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pinakes.api.completion.ranking import Names
from pinakes.api.completion.sight import Level
from pinakes.api.completion.source import Seen
from pinakes.api.local_shell_backend import LocalShellBackend
from pinakes.core.errors import InvalidArgument, listing
from pinakes.core.names import Name, Part
from pinakes.flight.actions.shell import Body, text
from pinakes.flight.request import FlightRequest

PATIENCE = 60.0
"""Maximum seconds to wait for a slow catalog during completion."""


def shell_look(body: Body, request: FlightRequest) -> Any:
    what = text(body, "what")
    backend = LocalShellBackend(request.connection.session)
    backend.session.guard.metadata(what)
    if what in _SHOWN:
        return _SHOWN[what](backend, body)
    if what in _COMPLETED:
        return _settled(Seen(backend.session), lambda seen: _COMPLETED[what](seen, body))
    raise InvalidArgument(f"there is no {what[:100]!r} to look at; available: {listing([*_SHOWN, *_COMPLETED])}")


def _settled(seen: Seen, look: Callable[[Seen], Any]) -> Any:
    """Calls `look` until loading has finished: one listing may start the next one."""
    while True:
        loaded = seen.loader.loaded
        found = look(seen)
        if not seen.loader.busy and seen.loader.loaded == loaded:
            return found
        if not seen.loader.settle(PATIENCE):
            return look(seen)


def _parts(body: Body) -> tuple[Part, ...]:
    given = body.get("parts")
    if not isinstance(given, list) or not given:
        raise InvalidArgument("'parts' must be a list of [text, quoted]")
    try:
        return tuple(Part(str(name), quoted=bool(quoted)) for name, quoted in given)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("'parts' must be a list of [text, quoted]") from error


def _objects(backend: LocalShellBackend, body: Body) -> list[tuple[str, str, str]]:
    place = Name(_parts(body)) if body.get("parts") else None
    kind = body.get("kind")
    return backend.objects(place, None if kind is None else str(kind))


def _names(names: Names) -> list[str]:
    return [name for name, _ in names.pairs]


def _level(level: Level) -> list[list[str]]:
    return [_names(names) for names in level]


_SHOWN: dict[str, Callable[[LocalShellBackend, Body], Any]] = {
    "about": lambda backend, _: backend.about(),
    "objects": _objects,
    "functions": lambda backend, _: backend.functions(),
    "forms": lambda backend, _: backend.statement_forms(),
}
_COMPLETED: dict[str, Callable[[Seen, Body], Any]] = {
    "attached": lambda seen, _: _names(seen.attached()),
    "temporaries": lambda seen, _: _names(seen.temporaries()),
    "function names": lambda seen, _: _names(seen.functions()),
    "here": lambda seen, _: _level(seen.here()),
    "top": lambda seen, _: _level(seen.top()),
    "levels": lambda seen, body: [_level(level) for level in seen.levels(_parts(body))],
    "columns": lambda seen, body: seen.columns(_parts(body)),
    "files": lambda seen, body: seen.files(text(body, "typed")),
}
