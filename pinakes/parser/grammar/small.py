"""Short statements: transactions, comments, statistics, search, privileges."""

from __future__ import annotations

from typing import Literal

from pinakes.core.names import Name, Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.statements import Analyze, Begin, CommentOn, Commit, Grant, Revoke, Rollback, Search

_COMMENTED: dict[str, Literal["TABLE", "VIEW", "COLUMN", "SCHEMA"]] = {
    "TABLE": "TABLE",
    "VIEW": "VIEW",
    "COLUMN": "COLUMN",
    "SCHEMA": "SCHEMA",
    "NAMESPACE": "SCHEMA",
    "DATABASE": "SCHEMA",
}


def begin(cursor: Cursor) -> Begin:
    """BEGIN [WORK | TRANSACTION] [mode [,] …]"""
    cursor.accept_one("WORK", "TRANSACTION", "DEFERRED", "IMMEDIATE")
    read_only = False
    while cursor.word in ("ISOLATION", "READ"):
        if cursor.accept("READ"):
            read_only = cursor.expect_one("ONLY", "WRITE") == "ONLY"
        else:
            _isolation(cursor)
        cursor.accept(",")
    cursor.done()
    return Begin(text=cursor.text, shown=cursor.shown, read_only=read_only)


def _isolation(cursor: Cursor) -> None:
    """ISOLATION LEVEL …: accepts levels that snapshot isolation satisfies."""
    cursor.expect("ISOLATION")
    cursor.expect("LEVEL")
    if cursor.word == "SERIALIZABLE":
        raise cursor.unsupported(
            "transactions have snapshot isolation, which is less than SERIALIZABLE: rows that are only read are not "
            "checked again at COMMIT. Use REPEATABLE READ, or leave the level out."
        )
    level = cursor.expect_one("SNAPSHOT", "REPEATABLE", "READ")
    if level == "REPEATABLE":
        cursor.expect("READ")
    elif level == "READ":
        cursor.expect_one("COMMITTED", "UNCOMMITTED")


def start(cursor: Cursor) -> Begin:
    """START TRANSACTION [mode [,] …]"""
    cursor.expect("TRANSACTION")
    return begin(cursor)


def commit(cursor: Cursor) -> Commit:
    cursor.accept_one("WORK", "TRANSACTION")
    cursor.done()
    return Commit(text=cursor.text, shown=cursor.shown)


def rollback(cursor: Cursor) -> Rollback:
    cursor.accept_one("WORK", "TRANSACTION")
    if cursor.word == "TO":
        raise cursor.unsupported("savepoints are not supported: ROLLBACK undoes the whole transaction")
    cursor.done()
    return Rollback(text=cursor.text, shown=cursor.shown)


def comment_on(cursor: Cursor) -> CommentOn:
    """COMMENT ON TABLE | VIEW | COLUMN | SCHEMA name IS '…' | NULL"""
    cursor.expect("ON")
    what = _COMMENTED[cursor.expect_one(*_COMMENTED)]
    name = cursor.name()
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else cursor.string("a comment in single quotes, or NULL")
    cursor.done()
    return CommentOn(text=cursor.text, shown=cursor.shown, what=what, name=name, comment=comment)


def analyze(cursor: Cursor) -> Analyze:
    """ANALYZE [TABLE] name [(columns) | COMPUTE STATISTICS [FOR COLUMNS a, b | FOR ALL COLUMNS | NOSCAN] |
    WITH (columns = ARRAY['a', 'b'])]"""
    if cursor.peek(1).kind != "end":
        cursor.accept_one("TABLE", "VERBOSE")
    table = cursor.name("the name of a table")
    columns: tuple[Part, ...] = cursor.listed(Cursor.part) if cursor.word == "(" else ()
    scans = True
    if cursor.accept("COMPUTE", "STATISTICS"):
        scans = not cursor.accept("NOSCAN")
        if scans and cursor.accept("FOR"):
            columns = _statistics_columns(cursor)
    elif cursor.accept("WITH"):
        columns = _columns_of_trino(cursor)
    cursor.done()
    return Analyze(text=cursor.text, shown=cursor.shown, table=table, columns=columns, scans=scans)


def _columns_of_trino(cursor: Cursor) -> tuple[Part, ...]:
    """(columns = ARRAY['a', 'b'])"""
    cursor.expect("(")
    if not cursor.accept("COLUMNS", "=", "ARRAY", "["):
        raise cursor.fault("expected columns = ARRAY['a', …]")
    found = [cursor.string("a column in single quotes")]
    while cursor.accept(","):
        found.append(cursor.string("a column in single quotes"))
    cursor.expect("]")
    cursor.expect(")")
    return tuple(Part(name, quoted=False) for name in found)


def _statistics_columns(cursor: Cursor) -> tuple[Part, ...]:
    if cursor.accept("ALL", "COLUMNS"):
        return ()
    cursor.expect("COLUMNS")
    if cursor.word == "(":
        return cursor.listed(Cursor.part)
    found = [cursor.part("a column")]
    while cursor.accept(","):
        found.append(cursor.part("a column"))
    return tuple(found)


def search(cursor: Cursor) -> Search:
    """SEARCH 'words' [IN catalog]"""
    if cursor.peek().kind == "string":
        words = cursor.take().text
    else:
        words = cursor.until("IN", "FROM", what="the words to look for, in single quotes").of(cursor.text)
    within = Name(cursor.path("a catalog")) if cursor.accept_one("IN", "FROM") else None
    cursor.done()
    return Search(text=cursor.text, shown=cursor.shown, words=words, within=within)


def grant(cursor: Cursor) -> Grant:
    _something(cursor, "GRANT")
    return Grant(text=cursor.text, shown=cursor.shown)


def revoke(cursor: Cursor) -> Revoke:
    _something(cursor, "REVOKE")
    return Revoke(text=cursor.text, shown=cursor.shown)


def _something(cursor: Cursor, what: str) -> None:
    if cursor.ended():
        raise cursor.fault(f"expected what to {what}")
    cursor.at = len(cursor.tokens)
