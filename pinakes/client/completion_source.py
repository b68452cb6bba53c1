"""Completion names of a server, loaded in the background and cached, so that typing never waits for the network."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pinakes.api.completion.loader import Loader
from pinakes.api.completion.ranking import Kind, Names
from pinakes.api.completion.sight import EMPTY, Level
from pinakes.core.names import INFORMATION_SCHEMA, SYSTEM, Part

if TYPE_CHECKING:
    from pinakes.api.shell_backend import SessionPosition
    from pinakes.client.wire import Wire

T = TypeVar("T")

PATIENCE = 60.0
"""Maximum seconds for a catalog of the server. Only the background thread waits."""
OWN = " session"


class RemoteCompletionSource:
    """The completion source of a remote shell. `standing` returns the current session state: cached names belong to one
    default namespace."""

    def __init__(self, wire: Wire, position: Callable[[], SessionPosition]) -> None:
        self.loader = Loader()
        self._wire, self._position = wire, position
        self._functions: Names | None = None

    def attached(self) -> Names:
        return self._get(OWN, ("attached",), _names("catalog"), Names("catalog", ()))

    def catalogs(self) -> Names:
        return Names.of("catalog", (*(name for name, _ in self.attached().pairs), INFORMATION_SCHEMA, SYSTEM))

    def temporaries(self) -> Names:
        return self._get(OWN, ("temporaries",), _names("temporary"), Names("temporary", ()))

    def functions(self) -> Names:
        """Loads the function names once: they depend on the server's version only."""
        if self._functions is None:
            found = self._get("functions", ("function names",), _names("function"), Names("function", ()))
            self._functions = found if found.pairs else None
            return found
        return self._functions

    def here(self) -> Level:
        return self._get(OWN, ("here",), _level, EMPTY)

    def top(self) -> Level:
        return self._get(OWN, ("top",), _level, EMPTY)

    def levels(self, qualifiers: Sequence[Part]) -> list[Level]:
        known = [self.here()] if self._is_here(qualifiers) else []
        return self._of_parts("levels", qualifiers, lambda answer: [_level(each) for each in answer], known)

    def columns(self, name: Sequence[Part]) -> tuple[str, ...]:
        return self._of_parts("columns", name, tuple, ())

    def files(self, typed: str) -> list[str]:
        return self._get("files", ("files", typed), list, [], typed=typed)

    def _is_here(self, qualifiers: Sequence[Part]) -> bool:
        position = self._position()
        levels = (position.catalog, *position.namespace)
        return len(levels) == len(qualifiers) and all(map(Part.matches, qualifiers, levels))

    def _of_parts(self, what: str, parts: Sequence[Part], read: Callable[[Any], T], default: T) -> T:
        """Loads with one thread per first name part, which may be a catalog, so that a slow catalog does not delay
        others."""
        given = [(part.text, part.quoted) for part in parts]
        return self._get(parts[0].text.casefold(), (what, *given), read, default, parts=given)

    def _get(
        self, queue_name: str, key: tuple[Hashable, ...], read: Callable[[Any], T], default: T, **body: object
    ) -> T:
        def load() -> T:
            return read(self._wire.request("PinakesLook", {"what": key[0], **body}, PATIENCE))

        position = self._position()
        return self.loader.get(queue_name, (position.catalog, position.namespace, *key), load, default)


def _names(kind: Kind) -> Callable[[list[str]], Names]:
    return lambda answer: Names.of(kind, answer)


def _level(answer: list[list[str]]) -> Level:
    namespaces, tables, views = answer
    return Level(Names.of("namespace", namespaces), Names.of("table", tables), Names.of("view", views))
