"""The interface of a completer's source of names. `Seen` finds them in this process, `pinakes.client.completion_source`
on a server. No method blocks: it returns the names known now, and unknown ones are fetched in the background."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from pinakes.api.completion.loader import Loader
from pinakes.api.completion.ranking import Names
from pinakes.core.names import Part


class Level(NamedTuple):
    """The content of one namespace of a catalog."""

    namespaces: Names
    tables: Names
    views: Names

    def find(self, part: Part) -> str | None:
        """Returns the exact name of the namespace that a part refers to."""
        return _match(part, self.namespaces)

    def find_object(self, part: Part) -> tuple[str, bool] | None:
        """Returns the exact name of a table or view, and whether it is a view."""
        for names in (self.tables, self.views):
            name = _match(part, names)
            if name is not None:
                return name, names.kind == "view"
        return None


EMPTY = Level(Names("namespace", ()), Names("table", ()), Names("view", ()))


@runtime_checkable
class CompletionSource(Protocol):
    @property
    def loader(self) -> Loader: ...

    def attached(self) -> Names:
        """Returns the attached catalogs."""
        ...

    def catalogs(self) -> Names:
        """Returns the attached catalogs and those of the system tables."""
        ...

    def temporaries(self) -> Names:
        """Returns the temporary relations of the session."""
        ...

    def functions(self) -> Names: ...

    def here(self) -> Level:
        """Returns the current namespace."""
        ...

    def top(self) -> Level:
        """Returns the top level of the current catalog."""
        ...

    def levels(self, qualifiers: Sequence[Part]) -> list[Level]:
        """Returns the possible meanings of the qualifiers, the most likely first."""
        ...

    def columns(self, name: Sequence[Part]) -> tuple[str, ...]:
        """Returns the columns of a relation, in order."""
        ...

    def files(self, typed: str) -> list[str]:
        """Returns paths that begin with the typed text, as far as SQL may read them."""
        ...


def _match(part: Part, names: Names) -> str | None:
    """Returns the name that a part refers to; the first if several differ only in case."""
    if part.quoted:
        return next((name for name, _ in names.pairs if name == part.text), None)
    folded = part.text.casefold()
    return next((name for name, low in names.pairs if low == folded), None)
