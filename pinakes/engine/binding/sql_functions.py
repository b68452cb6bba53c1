"""SQL functions (CREATE FUNCTION): where they are stored, what a name means, and statements with their calls expanded.

They are stored in properties of a namespace (`parser/stored_functions.py`, ADR 35); those of the session in that of
temporary tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pinakes.core.catalog import SupportsNamespaces
from pinakes.core.errors import InvalidArgument, NotFoundError, NotSupportedError, PinakesError, Position
from pinakes.core.names import Name, Part, display, match, quote
from pinakes.parser.splice import Edit, Spliced, splice
from pinakes.parser.sql_functions import Expander, called_names
from pinakes.parser.statements import AlterView, CreateView, FunctionForm, Planned, Span
from pinakes.parser.stored_functions import functions_in

if TYPE_CHECKING:
    from pinakes.engine.binding.namespaces import ResolvedNamespace
    from pinakes.engine.binding.resolver import Resolver
    from pinakes.engine.session import Session

_NOT_EXPANDED = frozenset({"CreateView", "AlterView", "Prepare"})
"""Statements that keep a text: its calls are expanded when it is read."""


@dataclass(frozen=True, slots=True)
class SqlFunction:
    """A function as it is stored."""

    place: ResolvedNamespace
    name: str
    forms: tuple[FunctionForm, ...]

    @property
    def key(self) -> tuple[str, ...]:
        return (self.place.mount.name, *self.place.namespace, self.name)

    def __str__(self) -> str:
        return display(self.place.mount.name, self.place.namespace, self.name)


def stored_in(place: ResolvedNamespace, wanted: Part | None = None) -> dict[str, list[FunctionForm]]:
    """Returns the functions of a namespace, or those of the wanted name."""
    catalog = place.mount.catalog
    if place.mount.is_system or not place.namespace or not isinstance(catalog, SupportsNamespaces):
        return {}
    try:
        return functions_in(catalog.load_namespace(place.namespace), wanted)
    except (NotFoundError, NotSupportedError):
        return {}


# --- names -----------------------------------------------------------------------------------------------------------


@cache
def built_in() -> frozenset[str]:
    """The names of the functions of the engine, which no SQL function can have."""
    from pinakes.engine.datafusion.functions import functions
    from pinakes.parser.calls import READERS

    return frozenset(function.name.lower() for function in functions()) | frozenset(map(str.lower, READERS))


def find_function(name: Name, resolver: Resolver) -> SqlFunction | None:
    """Returns the function that a name means: one of the session, or of the current namespace, or with a name of
    several parts of the namespace that they name."""
    if name.is_path or (len(name.parts) == 1 and name.last.text.lower() in built_in()):
        return None
    for place in resolver.function_places(name):
        stored = stored_in(place, name.last)
        found = match(name.last, stored, "function")
        if found is not None:
            return SqlFunction(place, found, tuple(stored[found]))
    return None


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expanded:
    """A statement whose calls of SQL functions are replaced by their bodies."""

    statement: Planned
    text: Spliced
    functions: tuple[SqlFunction, ...]

    @property
    def body(self) -> Span:
        """The query in CREATE VIEW or ALTER VIEW."""
        assert isinstance(self.statement, CreateView | AlterView)
        assert self.statement.body is not None
        return self.statement.body


Find = Callable[[Name], SqlFunction | None]


def expand(statement: Planned, session: Session, find: Find) -> Expanded | None:
    """Returns a statement with its calls of SQL functions expanded; None if it has none."""
    names = called_names(statement.text, cached=statement.shown == statement.text)
    if not names:
        return None
    known = {name: find(name) for name in names}
    if not any(known.values()):
        return None

    def look(name: Name) -> SqlFunction | None:
        if name not in known:
            known[name] = find(name)
        return known[name]

    expander = Expander(look)
    edits = expander.edits(statement.text)
    if not edits:
        return None
    named = [Edit(p.end, p.end, f" AS {quote(p.name)}") for p in statement.projections]
    text = splice(statement.text, [*edits, *named])
    with positions_before(text):
        after = session.engine.caches.statements.classify(text.text)
    if not isinstance(after, Planned) or after.kind != statement.kind:
        raise InvalidArgument("an SQL function can't be called here")
    return Expanded(after, text, tuple(f for f in expander.found if isinstance(f, SqlFunction)))


def expanded_statement(statement: Planned, session: Session, resolver: Resolver) -> Expanded | None:
    """The same with the functions that the resolver finds; statements that keep a text stay as they are."""
    if statement.kind in _NOT_EXPANDED:
        return None
    return expand(statement, session, lambda name: find_function(name, resolver))


def expanded_text(text: str, resolver: Resolver) -> str:
    """Returns an expression with its calls of SQL functions expanded."""
    if not called_names(text):
        return text
    return splice(text, Expander(lambda name: find_function(name, resolver)).edits(text)).text


@contextmanager
def positions_before(text: Spliced) -> Iterator[None]:
    """Errors within have positions in the text before its calls were expanded."""
    try:
        yield
    except PinakesError as error:
        if error.position is not None:
            error.position = _before(text, error.position)
        raise


def _before(text: Spliced, position: Position) -> Position | None:
    lines = text.text.split("\n")
    if position.line > len(lines) or lines[position.line - 1] != position.text:
        return position
    return text.locate(position.line, position.column)
