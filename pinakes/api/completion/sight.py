"""What a completer asks for: names, as far as they are known at this moment. `Seen` finds them in this process,
`pinakes.client.completion_source` behind a server. Nobody waits: what is not known yet is being fetched when it was
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from pinakes.api.completion.loader import Loader
from pinakes.api.completion.ranking import Names
from pinakes.core.names import Part


class Level(NamedTuple):
    """What is directly in one namespace of a catalog."""

    namespaces: Names
    tables: Names
    views: Names

    def find(self, part: Part) -> str | None:
        """The exact name of the namespace that a part means."""
        return _match(part, self.namespaces)

    def find_object(self, part: Part) -> tuple[str, bool] | None:
        """The exact name of a table or view, and whether it is a view."""
        for names in (self.tables, self.views):
            name = _match(part, names)
            if name is not None:
                return name, names.kind == "view"
        return None


EMPTY = Level(Names("namespace", ()), Names("table", ()), Names("view", ()))


@runtime_checkable
class Sight(Protocol):
    @property
    def loader(self) -> Loader: ...

    def attached(self) -> Names:
        """The catalogs that are attached."""
        ...

    def catalogs(self) -> Names:
        """Those, and the ones of system tables, which everybody has."""
        ...

    def temporaries(self) -> Names:
        """What the session alone has."""
        ...

    def functions(self) -> Names: ...

    def here(self) -> Level:
        """The current namespace."""
        ...

    def top(self) -> Level:
        """The current catalog."""
        ...

    def levels(self, qualifiers: Sequence[Part]) -> list[Level]:
        """What the parts before a name may mean, the likeliest first."""
        ...

    def columns(self, name: Sequence[Part]) -> tuple[str, ...]:
        """The columns of the relation that a name means, in their order."""
        ...

    def files(self, typed: str) -> list[str]:
        """Paths that go on from what was typed, as far as SQL may read there."""
        ...


def _match(part: Part, names: Names) -> str | None:
    """The one name that a part means; the first when several differ only in case."""
    if part.quoted:
        return next((name for name, _ in names.pairs if name == part.text), None)
    folded = part.text.casefold()
    return next((name for name, low in names.pairs if low == folded), None)
