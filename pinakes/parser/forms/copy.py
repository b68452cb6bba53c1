"""COPY … TO, COPY … FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.parser.cursor import Cursor
from pinakes.parser.forms.query import STARTS, body
from pinakes.parser.forms.targets import refuse_tail
from pinakes.parser.lexer import Token
from pinakes.parser.locate import Located, locate
from pinakes.parser.masking import not_secret
from pinakes.parser.options import options
from pinakes.parser.statements import CopyFrom, CopyTo, Option, Span

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement


def copy(cursor: Cursor) -> AnyStatement:
    """COPY table | (query) TO 'path' [(options)], COPY [INTO] table [(columns)] FROM 'path' [(options)]"""
    if cursor.word == "(" and cursor.peek(1).word in STARTS:
        first = cursor.at
        cursor.skip_group()
        end, cursor.at = cursor.at, first
        span, located = body(cursor, end)
        return _to(cursor, span, located)
    first = cursor.at
    if cursor.peek(1).kind in ("word", "quoted") and cursor.peek(1).word not in ("TO", "FROM"):
        cursor.accept("INTO")
        first = cursor.at
    table = cursor.name("a table or a query in parentheses")
    if cursor.word == "TO":
        at = cursor.tokens[first].start
        named = [Token("word", "FROM", "FROM", at, at), *cursor.tokens[first : cursor.at]]
        return _to(cursor, cursor.span_from(first), locate(cursor.text, named, strict=True))
    columns = cursor.listed(Cursor.part) if cursor.word == "(" else ()
    cursor.expect("FROM")
    path = cursor.string("a path in single quotes")
    given = _options(cursor)
    return CopyFrom(text=cursor.text, shown=cursor.shown, table=table, columns=columns, path=path, options=given)


def _to(cursor: Cursor, span: Span, located: Located) -> CopyTo:
    cursor.expect("TO")
    path = cursor.string("a path in single quotes")
    given = _options(cursor)
    return CopyTo(text=cursor.text, shown=cursor.shown, body=span, path=path, options=given, **located._asdict())


def _options(cursor: Cursor) -> tuple[Option, ...]:
    """[WITH | OPTIONS] (…) or FORMAT f, STORED AS f"""
    found: tuple[Option, ...] = ()
    while not cursor.ended():
        if cursor.accept("STORED", "AS") or cursor.accept("FORMAT"):
            token = cursor.peek()
            name = cursor.string() if token.kind == "string" else cursor.part("a format").text
            found += (Option("FORMAT", name),)
        else:
            refuse_tail(cursor)
            cursor.accept_one("WITH", "OPTIONS")
            found += options(cursor, shown=not_secret)
    return found
