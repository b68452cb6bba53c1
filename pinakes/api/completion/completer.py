"""`complete(text, cursor)` returns the completions at the cursor, best first. It never waits for a catalog.

Unknown names are fetched in the background: `busy` reports this, `settle` waits for it, and the next call returns them.
Call `refresh` after each statement, which may have changed anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING

from pinakes.api.completion.cursor_context import Expected, expected
from pinakes.api.completion.ranking import Completion, Match, Names, ranked
from pinakes.api.completion.relations import Relation, common_tables, in_sight
from pinakes.api.completion.sight import CompletionSource
from pinakes.api.completion.source import Seen
from pinakes.api.completion.statement import Typed, typed
from pinakes.config.settings import Settings
from pinakes.core.names import quote, spell
from pinakes.parser.keywords import KEYWORDS, RESERVED, TYPES, statement_words

if TYPE_CHECKING:
    from pinakes.engine.session import Session

_NAMED = frozenset({"catalog", "namespace", "table", "view", "temporary", "column", "alias"})
_SHOWN = tuple("caches catalogs columns create current functions schemas secrets session stats tables views".split())
_USUAL = Names.of(
    "keyword",
    "and as asc between by case desc distinct else end from full group having in inner into is join left like limit "
    "not null on or order over set then union using values when where with".split(),
)
_RARE = Names.of("keyword", {word.lower() for word in KEYWORDS} - {name for name, _ in _USUAL.pairs})
_TABLE_WORDS = Names.of("keyword", ("exists", "if", "lateral", "only", "table", "unnest", "values"))
_PLACE_WORDS = Names.of("keyword", ("catalog", "exists", "if", "namespace"))
_TYPE_WORDS = Names.of("keyword", (word.lower() for word in TYPES))
_QUERY_WORDS = Names.of("keyword", ("select", "values", "with", "table", "from"))


class Completer:
    """Completes statements. Thread-safe."""

    def __init__(self, seen: Session | CompletionSource) -> None:
        """Completes for a session in this process, or for another source of names."""
        self._seen: CompletionSource = seen if isinstance(seen, CompletionSource) else Seen(seen)

    def complete(self, text: str, cursor: int) -> list[Completion]:
        at = typed(text, cursor)
        if at is None:
            return []
        if at.quote == "'":
            return self._files(at)
        groups = self._groups(at)
        upper = at.prefix.isupper() or (
            not at.prefix and any(t.text.isupper() and t.word in KEYWORDS for t in at.before)
        )
        return [Completion(_spelled(m, at, upper), at.start, m.kind) for m in ranked(at.prefix, groups)]

    def refresh(self) -> None:
        """Marks all names as stale after a statement, and fetches the likely ones, beginning with the current
        namespace."""
        self.expire()
        self.prefetch()

    def expire(self) -> None:
        """Marks all names as stale; each is fetched again on its next use."""
        self._seen.loader.refresh()

    def prefetch(self) -> None:
        """Fetches the names that are most likely needed."""
        self._seen.functions()
        self._seen.here()
        self._seen.top()

    @property
    def loaded(self) -> int:
        """Grows with each completed fetch."""
        return self._seen.loader.loaded

    @property
    def busy(self) -> bool:
        """Whether a fetch is running, so that another call may return more."""
        return self._seen.loader.busy

    def settle(self, timeout: float | None = None) -> bool:
        """Waits until no fetch is running; returns whether this happened within `timeout` seconds."""
        return self._seen.loader.settle(timeout)

    def _files(self, at: Typed) -> list[Completion]:
        """Completes paths in a string in the position of a file, as far as SQL may read them."""
        if expected(at.before, in_string=True) != "file":
            return []
        return [Completion("'" + name.replace("'", "''"), at.start, "file") for name in self._seen.files(at.prefix)]

    def _groups(self, at: Typed) -> list[Names]:
        """Returns the groups of names that fit here, the most likely first."""
        wanted = expected(at.before)
        if at.qualifiers:
            return self._qualified(wanted, at)
        if at.quote:  # an identifier: keywords are never quoted
            return [g for g in self._unqualified(wanted if wanted != "keyword" else "column", at) if g.kind in _NAMED]
        return self._unqualified(wanted, at)

    def _unqualified(self, wanted: Expected, at: Typed) -> list[Names]:
        groups: dict[Expected, Callable[[], list[Names]]] = {
            "statement": lambda: [Names.of("keyword", (word.lower() for word in statement_words()))],
            "query": lambda: [_QUERY_WORDS, *self._relations(at), _USUAL],
            "relation": lambda: [*self._relations(at), _tables_made_by(self._seen.functions()), _TABLE_WORDS],
            "place": lambda: [self._namespaces(), self._seen.catalogs(), _PLACE_WORDS],
            "catalog": lambda: [self._seen.attached()],
            "column": lambda: [*self._columns(at), self._seen.functions(), _USUAL, _RARE, _TYPE_WORDS],
            "setting": lambda: [Names.of("setting", (field.name for field in fields(Settings)))],
            "show": lambda: [Names.of("keyword", _SHOWN), Names.of("setting", (f.name for f in fields(Settings)))],
            "keyword": lambda: [_USUAL, _RARE, _TYPE_WORDS],
        }
        return groups[wanted]() if wanted in groups else []

    def _relations(self, at: Typed) -> list[Names]:
        names = [self._seen.temporaries(), Names.of("table", common_tables([*at.before, *at.after]))]
        level = self._seen.here()
        return [*names, level.tables, level.views, self._namespaces(), self._seen.catalogs()]

    def _namespaces(self) -> Names:
        """Returns the namespaces that a name without a catalog may begin with."""
        return self._seen.top().namespaces

    def _columns(self, at: Typed) -> list[Names]:
        relations = in_sight(at.before, at.after)
        columns = (column for relation in relations for column in self._seen.columns(relation.name))
        return [Names.of("column", set(columns)), Names.of("alias", {relation.called.exact for relation in relations})]

    def _qualified(self, wanted: Expected, at: Typed) -> list[Names]:
        relation = None if wanted in ("relation", "place") else _meant(in_sight(at.before, at.after), at)
        if relation is not None:
            return [Names.of("column", self._seen.columns(relation.name))]
        levels = self._seen.levels(at.qualifiers)
        if wanted == "place":
            return [level.namespaces for level in levels[:1]]
        columns = [] if wanted == "relation" else [Names.of("column", self._seen.columns(at.qualifiers))]
        tables = [names for level in levels for names in (level.tables, level.views)]
        return [*columns, *tables, *(level.namespaces for level in levels[:1])]


def _meant(relations: list[Relation], at: Typed) -> Relation | None:
    """Returns the relation whose alias or name precedes the dot."""
    if len(at.qualifiers) == 1:
        called = (r for r in relations if at.qualifiers[0].matches(r.called.text))
        return next(called, None)
    exact = tuple(part.exact for part in at.qualifiers)
    return next((r for r in relations if tuple(part.exact for part in r.name) == exact), None)


def _tables_made_by(functions: Names) -> Names:
    """Returns the table functions."""
    made = [pair for pair in functions.pairs if pair[0].startswith("read_") or pair[0] in ("generate_series", "range")]
    return Names("function", made)


def _spelled(match: Match, at: Typed, upper: bool) -> str:
    if match.kind == "keyword":
        return match.name.upper() if upper else match.name
    if match.kind not in _NAMED:
        return match.name
    if at.quote == "`":
        return "`" + match.name.replace("`", "``") + "`"
    return quote(match.name) if at.quote or match.name.upper() in RESERVED else spell(match.name)
