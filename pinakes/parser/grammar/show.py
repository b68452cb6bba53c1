"""SHOW …: catalogs, namespaces, tables, views, columns, functions, definitions, secrets, caches, settings, stats."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pinakes.core.names import Name
from pinakes.core.suggestions import close_to
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.statements import (
    Like,
    ShowCaches,
    ShowCatalogs,
    ShowColumns,
    ShowCreate,
    ShowCurrent,
    ShowFunctions,
    ShowNamespaces,
    ShowSecrets,
    ShowSession,
    ShowStats,
    ShowTables,
    ShowViews,
)

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

_CREATED: dict[str, Literal["TABLE", "VIEW", "FUNCTION", "SCHEMA", "CATALOG"]] = {
    "TABLE": "TABLE",
    "VIEW": "VIEW",
    "FUNCTION": "FUNCTION",
    "MACRO": "FUNCTION",
    "SCHEMA": "SCHEMA",
    "NAMESPACE": "SCHEMA",
    "DATABASE": "SCHEMA",
    "CATALOG": "CATALOG",
}


def show(cursor: Cursor) -> AnyStatement:
    """SHOW what …; any other word is the name of a setting."""
    for words in (("FULL",), ("TERSE",), ("ALL",), ("SYSTEM",), ("USER",)):
        if cursor.sees(*words) and cursor.peek(1).word in _KINDS:  # optional words of other engines before the kind
            cursor.accept(*words)
    form = _KINDS.get(cursor.word)
    close = close_to(cursor.word, _KINDS, cutoff=0.8) if form is None else []
    if close and cursor.peek(1).word not in (".", "="):
        raise Fault(f"there is no SHOW {cursor.word}; did you mean SHOW {close[0]}?", cursor.peek().start)
    if form is None or cursor.peek(1).word in (".", "="):
        return _setting(cursor)
    cursor.take()
    statement = form(cursor)
    cursor.done()
    return statement


def _catalogs(cursor: Cursor) -> AnyStatement:
    return ShowCatalogs(text=cursor.text, shown=cursor.shown, like=_like(cursor))


def _namespaces(cursor: Cursor) -> AnyStatement:
    within, like = _within_like(cursor)
    return ShowNamespaces(text=cursor.text, shown=cursor.shown, within=within, like=like)


def _tables(cursor: Cursor) -> AnyStatement:
    within, like = _within_like(cursor)
    return ShowTables(text=cursor.text, shown=cursor.shown, within=within, like=like)


def _views(cursor: Cursor) -> AnyStatement:
    within, like = _within_like(cursor)
    return ShowViews(text=cursor.text, shown=cursor.shown, within=within, like=like)


def _functions(cursor: Cursor) -> AnyStatement:
    within, like = _within_like(cursor)
    return ShowFunctions(text=cursor.text, shown=cursor.shown, within=within, like=like)


def _columns(cursor: Cursor) -> AnyStatement:
    """SHOW COLUMNS FROM t [FROM | IN namespace] [LIKE p]"""
    cursor.expect_one("FROM", "IN")
    table = cursor.name("a table")
    if cursor.accept_one("FROM", "IN"):
        table = Name((*cursor.path("a namespace"), *table.parts))
    return ShowColumns(text=cursor.text, shown=cursor.shown, table=table, like=_like(cursor))


def _create(cursor: Cursor) -> AnyStatement:
    what = _CREATED[cursor.expect_one(*_CREATED)]
    return ShowCreate(text=cursor.text, shown=cursor.shown, what=what, name=cursor.name())


def _secrets(cursor: Cursor) -> AnyStatement:
    return ShowSecrets(text=cursor.text, shown=cursor.shown, like=_like(cursor))


def _caches(cursor: Cursor) -> AnyStatement:
    return ShowCaches(text=cursor.text, shown=cursor.shown, like=_like(cursor))


def _session(cursor: Cursor) -> AnyStatement:
    return ShowSession(text=cursor.text, shown=cursor.shown, like=_like(cursor))


def _stats(cursor: Cursor) -> AnyStatement:
    cursor.expect("FOR")
    return ShowStats(text=cursor.text, shown=cursor.shown, table=cursor.name("a table"))


def _current(cursor: Cursor) -> AnyStatement:
    cursor.expect_one("NAMESPACE", "SCHEMA", "DATABASE", "CATALOG")
    return ShowCurrent(text=cursor.text, shown=cursor.shown)


def _setting(cursor: Cursor) -> AnyStatement:
    if cursor.accept("TIME", "ZONE"):
        name = "time_zone"
    else:
        name = ".".join(p.exact for p in cursor.path(f"a setting, or one of {', '.join(sorted(_KINDS))}"))
    cursor.done()
    return ShowSession(text=cursor.text, shown=cursor.shown, setting=name)


def _within_like(cursor: Cursor) -> tuple[Name | None, Like | None]:
    """[FROM | IN name] [[LIKE] pattern]"""
    within = cursor.name("a catalog or namespace") if cursor.accept_one("FROM", "IN") else None
    return within, _like(cursor)


def _like(cursor: Cursor) -> Like | None:
    """LIKE 'p', LIKE p (bare, up to a space), or only the pattern in quotes, as in Spark."""
    if cursor.peek().kind == "string":
        return Like(cursor.take().text)
    if not cursor.accept_one("LIKE", "ILIKE"):
        return None
    first = cursor.peek()
    if first.kind == "string":
        return Like(cursor.take().text)
    if cursor.ended():
        raise cursor.fault("expected a pattern after LIKE")
    end = cursor.take().end
    while not cursor.ended() and cursor.peek().start == end:
        end = cursor.take().end
    return Like(cursor.text[first.start : end])


_KINDS: dict[str, Callable[[Cursor], AnyStatement]] = {
    "CATALOGS": _catalogs,
    "NAMESPACES": _namespaces,
    "SCHEMAS": _namespaces,
    "DATABASES": _namespaces,
    "TABLES": _tables,
    "VIEWS": _views,
    "COLUMNS": _columns,
    "FUNCTIONS": _functions,
    "CREATE": _create,
    "SECRETS": _secrets,
    "CACHES": _caches,
    "SESSION": _session,
    "ALL": _session,
    "SETTINGS": _session,
    "STATS": _stats,
    "CURRENT": _current,
}
