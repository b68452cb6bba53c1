"""USE, SET, RESET: the current catalog and namespace, and the settings of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pinakes.core.names import Name
from pinakes.parser.cursor import Cursor
from pinakes.parser.redaction import MASK, looks_secret
from pinakes.parser.statements import ResetOption, SetOption, Use

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

_NAMESPACE_WORDS = ("NAMESPACE", "SCHEMA", "DATABASE")


def use(cursor: Cursor) -> Use:
    """USE [CATALOG | NAMESPACE] name [IN catalog]"""
    what: Literal["ANY", "CATALOG", "NAMESPACE"] = "ANY"
    if cursor.peek(1).kind in ("word", "quoted", "string") and cursor.peek(1).word != "IN":
        if cursor.accept("CATALOG"):
            what = "CATALOG"
        elif cursor.accept_one(*_NAMESPACE_WORDS):
            what = "NAMESPACE"
    return _use(cursor, what)


def _use(cursor: Cursor, what: Literal["ANY", "CATALOG", "NAMESPACE"]) -> Use:
    parts = cursor.path("a catalog or namespace")
    catalog = cursor.part("a catalog") if what != "CATALOG" and cursor.accept("IN") else None
    cursor.done()
    return Use(text=cursor.text, shown=cursor.shown, what=what, name=Name(parts), catalog=catalog)


def set_(cursor: Cursor) -> AnyStatement:
    """SET [SESSION | LOCAL | GLOBAL] name = | TO value, SET TIME ZONE value, SET CATALOG name, SET SCHEMA name"""
    if cursor.peek(1).word not in ("=", "TO", "."):
        if cursor.accept("CATALOG"):
            return _use(cursor, "CATALOG")
        if cursor.accept_one(*_NAMESPACE_WORDS):
            return _use(cursor, "NAMESPACE")
    scope = _scope(cursor)
    bare = cursor.sees("TIME", "ZONE")  # SET TIME ZONE 'UTC' has neither = nor TO
    name = _setting_name(cursor)
    if not cursor.accept_one("=", "TO") and not bare:
        raise cursor.fault("expected = or TO")
    first = cursor.at
    value = _value(cursor)
    cursor.done()
    if looks_secret(name):
        cursor.hidden.append((cursor.span_from(first), MASK))
    return SetOption(text=cursor.text, shown=cursor.shown, name=name, value=value, scope=scope)


def reset(cursor: Cursor) -> ResetOption:
    """RESET [SESSION | GLOBAL] name | ALL"""
    scope = _scope(cursor)
    name = None if cursor.accept("ALL") else _setting_name(cursor)
    cursor.done()
    return ResetOption(text=cursor.text, shown=cursor.shown, name=name, scope=scope)


def _scope(cursor: Cursor) -> Literal["SESSION", "GLOBAL"]:
    if cursor.peek(1).kind not in ("word", "quoted") or cursor.peek(1).word == "TO":
        return "SESSION"
    return "GLOBAL" if cursor.accept_one("SESSION", "LOCAL", "GLOBAL") == "GLOBAL" else "SESSION"


def _setting_name(cursor: Cursor) -> str:
    if cursor.accept("TIME", "ZONE"):
        return "time_zone"
    if cursor.peek().kind == "string":
        return cursor.take().text
    return ".".join(p.exact for p in cursor.path("the name of a setting"))


def _value(cursor: Cursor) -> str:
    """Parses a string, or the text up to the end: SET x = 8GB, SET x = -1, SET path = a, b"""
    first = cursor.peek()
    if cursor.ended():
        raise cursor.fault("expected a value")
    cursor.take()
    if first.kind in ("string", "quoted") and cursor.ended():
        return first.text
    cursor.at = len(cursor.tokens)
    return cursor.text[first.start : cursor.tokens[-1].end]
