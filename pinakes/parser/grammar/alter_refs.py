"""CREATE, REPLACE and DROP of branches and tags in ALTER TABLE, as Spark spells them."""

from __future__ import annotations

from typing import Literal

from pinakes.parser.cursor import Cursor
from pinakes.parser.statements import CreateRef, DropRef

_MILLISECONDS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000}
_MILLISECONDS |= {unit[:-1]: size for unit, size in _MILLISECONDS.items()}


def at_ref(cursor: Cursor) -> bool:
    """Returns whether BRANCH or TAG and a name follow, since a column may have one of these names."""
    return cursor.word in ("BRANCH", "TAG") and cursor.peek(1).kind != "end" and cursor.peek(1).word != ","


def create_ref(cursor: Cursor, *, replace: bool = False, create: bool = True) -> CreateRef:
    """BRANCH | TAG [IF NOT EXISTS] name [AS OF VERSION v] [RETAIN n DAYS] [WITH SNAPSHOT RETENTION …]"""
    kind = _kind(cursor)
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    if if_not_exists and replace:
        raise cursor.fault("OR REPLACE and IF NOT EXISTS don't go together")
    name = _name(cursor, kind)
    version = _version(cursor) if cursor.accept("AS", "OF", "VERSION") else None
    age = _duration(cursor) if cursor.accept("RETAIN") else None
    least, snapshots_age = _retention(cursor, kind) if cursor.accept("WITH", "SNAPSHOT", "RETENTION") else (None, None)
    return CreateRef(kind, name, version, replace, create, if_not_exists, age, least, snapshots_age)


def drop_ref(cursor: Cursor) -> DropRef:
    """BRANCH | TAG [IF EXISTS] name"""
    kind = _kind(cursor)
    if_exists = cursor.accept("IF", "EXISTS")
    return DropRef(kind, _name(cursor, kind), if_exists)


def _kind(cursor: Cursor) -> Literal["branch", "tag"]:
    return "branch" if cursor.expect_one("BRANCH", "TAG") == "BRANCH" else "tag"


def _name(cursor: Cursor, kind: str) -> str:
    what = f"the name of a {kind}"
    return cursor.string(what) if cursor.peek().kind == "string" else cursor.part(what).exact


def _version(cursor: Cursor) -> int | str:
    if cursor.peek().kind == "string":
        return cursor.string()
    if cursor.peek().text.isdigit():  # snapshot ids have more digits than other numbers of statements
        return int(cursor.take().text)
    return cursor.part("the id of a snapshot, or the name of a branch or tag").exact


def _retention(cursor: Cursor, kind: str) -> tuple[int | None, int | None]:
    """[n SNAPSHOTS] [n DAYS | HOURS | MINUTES]"""
    if kind == "tag":
        raise cursor.unsupported("a tag has no snapshots of its own to retain: WITH SNAPSHOT RETENTION is for branches")
    least = None
    if cursor.peek(1).word in ("SNAPSHOTS", "SNAPSHOT"):
        least = cursor.integer("a number of snapshots")
        cursor.take()
    age = _duration(cursor) if cursor.peek().kind == "number" else None
    if least is None and age is None:
        raise cursor.fault("expected a number of SNAPSHOTS, DAYS, HOURS or MINUTES")
    if least is not None and least < 1:
        raise cursor.fault("at least one snapshot must be retained")
    return least, age


def _duration(cursor: Cursor) -> int:
    number = cursor.integer("a number of days, hours or minutes")
    if number < 1:
        raise cursor.fault("a time to retain must be at least 1")
    return number * _MILLISECONDS[cursor.expect_one(*_MILLISECONDS)]
