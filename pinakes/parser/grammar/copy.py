"""COPY … TO, COPY … FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.names import Part
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.query import STARTS, body
from pinakes.parser.grammar.targets import refuse_tail
from pinakes.parser.lexer import Token
from pinakes.parser.locate import Located, locate
from pinakes.parser.options import check_once, hide, literal, option_key
from pinakes.parser.redaction import not_secret
from pinakes.parser.statements import CopyFrom, CopyOption, CopyTo, OptionValue, Span

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement


def copy(cursor: Cursor) -> AnyStatement:
    """COPY table [(columns)] | (query) TO 'path' [(options)], COPY [INTO] table [(columns)] FROM 'path' [(options)]"""
    if cursor.word == "(" and cursor.peek(1).word in STARTS:
        first = cursor.at
        cursor.skip_group()
        end, cursor.at = cursor.at, first
        span, located = body(cursor, end)
        return _to(cursor, span, located)
    into = cursor.peek(1).kind in ("word", "quoted") and cursor.peek(1).word not in ("TO", "FROM")
    into = into and cursor.accept("INTO")
    first = cursor.at
    table = cursor.name("a table or a query in parentheses")
    span, end = cursor.span_from(first), cursor.at
    columns = cursor.listed(Cursor.part) if cursor.word == "(" else ()
    if cursor.word == "TO" and not into:
        at = cursor.tokens[first].start
        named = [Token("word", "FROM", "FROM", at, at), *cursor.tokens[first:end]]
        return _to(cursor, span, locate(cursor.text, named, strict=True), columns)
    cursor.expect_one(*(("FROM",) if into else ("FROM", "TO")))
    path = cursor.string("a path in single quotes")
    given = _options(cursor)
    return CopyFrom(
        text=cursor.text, shown=cursor.shown, table=table, into=into, columns=columns, path=path, options=given
    )


def _to(cursor: Cursor, span: Span, located: Located, columns: tuple[Part, ...] = ()) -> CopyTo:
    cursor.expect("TO")
    if cursor.word in ("STDOUT", "PROGRAM"):
        raise cursor.unsupported(
            f"COPY … TO {cursor.word} is not supported: COPY to a file, or print the rows with "
            f"pinakes --format csv -c 'SELECT …'"
        )
    path = cursor.string("a path in single quotes")
    given = _options(cursor)
    return CopyTo(
        text=cursor.text,
        shown=cursor.shown,
        body=span,
        columns=columns,
        path=path,
        options=given,
        **located._asdict(),
    )


def _options(cursor: Cursor) -> tuple[CopyOption, ...]:
    """[WITH | OPTIONS] (…) or FORMAT f, STORED AS f; PARTITIONED BY (…); FORCE = TRUE"""
    found: list[CopyOption] = []
    while not cursor.ended():
        if cursor.accept("STORED", "AS") or cursor.accept("FORMAT"):
            token = cursor.peek()
            name = cursor.string() if token.kind == "string" else cursor.part("a format").text
            found.append(CopyOption("FORMAT", name))
        elif cursor.accept("FORCE"):
            cursor.accept("=")
            found.append(CopyOption("FORCE", literal(cursor)))
        elif cursor.accept("PARTITIONED", "BY"):
            found.append(CopyOption("PARTITION_BY", cursor.listed(literal)))
        else:
            refuse_tail(cursor)
            cursor.accept_one("WITH", "OPTIONS")
            found += _listed(cursor)
    check_once([option.key for option in found], cursor)
    return tuple(found)


def _listed(cursor: Cursor) -> list[CopyOption]:
    """(KEY value, KEY = value, KEY, KEY (value, value), KEY *)"""
    cursor.expect("(")
    found: list[CopyOption] = []
    while cursor.word != ")":
        key = option_key(cursor)
        first = cursor.at
        found.append(CopyOption(key, _value(cursor)))
        if cursor.at > first:
            hide(cursor, cursor.span_from(first), harmless=not_secret(key))
        if cursor.word != ")":
            cursor.expect(",")
    cursor.expect(")")
    return found


def _value(cursor: Cursor) -> OptionValue | tuple[OptionValue, ...]:
    if cursor.word in (",", ")"):
        return True
    if cursor.word == "(":
        return cursor.listed(literal)
    return "*" if cursor.accept("*") else literal(cursor)
