"""EXPLAIN, DESCRIBE, SUMMARIZE: statements about a query or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.core.names import Name
from pinakes.parser.calls import is_call
from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.query import STARTS, body
from pinakes.parser.lexer import Token
from pinakes.parser.locate import Located, locate
from pinakes.parser.statements import Describe, Explain, ExplainFull, Planned, Span, Summarize, TableRef

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

_WORDS = ("ANALYZE", "ANALYSE", "VERBOSE", "FULL", "FORMAT", "TYPE")


def explain(cursor: Cursor) -> AnyStatement:
    """EXPLAIN [ANALYZE] [VERBOSE] [FULL] [FORMAT f] statement; the words in any order, also in parentheses"""
    words, form = _how(cursor)
    if cursor.ended():
        raise cursor.fault("expected a query after EXPLAIN")
    if cursor.word in ("EXPLAIN", "PREPARE"):
        raise cursor.fault(f"{cursor.word} can't be explained")
    span = Span(cursor.peek().start, cursor.tokens[-1].end)
    inner = _inner(cursor)
    analyze = bool(words & {"ANALYZE", "ANALYSE"})
    located = located_of(inner)
    if "FULL" in words:
        return ExplainFull(
            text=cursor.text, shown=cursor.shown, body=span, analyze=analyze, format=form, **located._asdict()
        )
    if not isinstance(inner, Planned):
        raise cursor.unsupported("EXPLAIN takes a query, or a statement that changes rows")
    return Explain(
        text=cursor.text,
        shown=cursor.shown,
        body=span,
        analyze=analyze,
        verbose="VERBOSE" in words,
        format=form,
        **located._asdict(),
    )


def located_of(inner: AnyStatement) -> Located:
    if not isinstance(inner, Planned):
        return Located()
    return Located(**{name: getattr(inner, name) for name in Located._fields})


def _inner(cursor: Cursor) -> AnyStatement:
    from pinakes.parser.dispatch import statement

    return statement(cursor)


def _how(cursor: Cursor) -> tuple[set[str], str | None]:
    """Parses options and groups of options in parentheses, in any order: ANALYZE (FULL, FORMAT JSON)."""
    words: set[str] = set()
    form: str | None = None
    while True:
        in_parentheses = cursor.word == "(" and cursor.peek(1).word in _WORDS
        if in_parentheses:
            cursor.take()
        elif cursor.word not in _WORDS:
            return words, form
        found, given = _words(cursor, in_parentheses=in_parentheses)
        words, form = words | found, given or form
        if in_parentheses:
            cursor.expect(")")


def _words(cursor: Cursor, *, in_parentheses: bool) -> tuple[set[str], str | None]:
    words: set[str] = set()
    form: str | None = None
    while cursor.word in _WORDS:
        word = cursor.take().word
        words.add(word)
        if word in ("FORMAT", "TYPE"):
            cursor.accept_one("=", "=>")
            form = cursor.part("a format").text.upper() if cursor.peek().kind != "string" else cursor.string().upper()
        if in_parentheses:
            cursor.accept_one("TRUE", "ON")
            cursor.accept(",")
    return words, form


def describe(cursor: Cursor) -> Describe:
    """DESCRIBE [TABLE | VIEW] [EXTENDED] name, DESCRIBE NAMESPACE name, DESCRIBE query, DESCRIBE read_csv(…)"""
    if cursor.accept("QUERY") or (cursor.word in STARTS and cursor.word != "TABLE"):
        span, located = body(cursor)
        return Describe(text=cursor.text, shown=cursor.shown, what="QUERY", body=span, **located._asdict())
    names_more = cursor.peek(1).kind in ("word", "quoted", "string")
    if names_more and cursor.accept_one("NAMESPACE", "SCHEMA", "DATABASE"):
        extended = cursor.peek(1).kind != "end" and cursor.accept("EXTENDED")
        name = Name(cursor.path("a namespace"))
        cursor.done()
        return Describe(text=cursor.text, shown=cursor.shown, what="NAMESPACE", name=name, extended=extended)
    if names_more:
        cursor.accept_one("TABLE", "VIEW")
    extended = cursor.peek(1).kind in ("word", "quoted", "string") and bool(cursor.accept_one("EXTENDED", "FORMATTED"))
    if is_call(cursor):
        table, located = _one_table(cursor, "DESCRIBE")
        return Describe(text=cursor.text, shown=cursor.shown, what="FILES", table=table, **located._asdict())
    name = cursor.name("the name of a table")
    cursor.done()
    return Describe(text=cursor.text, shown=cursor.shown, name=name, extended=extended)


def summarize(cursor: Cursor) -> Summarize:
    """SUMMARIZE [TABLE] name | query"""
    cursor.accept("TABLE")
    if cursor.word in STARTS:
        span, located = body(cursor)
        return Summarize(text=cursor.text, shown=cursor.shown, body=span, **located._asdict())
    if cursor.ended():
        raise cursor.fault("expected a table or a query after SUMMARIZE")
    table, located = _one_table(cursor, "SUMMARIZE")
    return Summarize(text=cursor.text, shown=cursor.shown, table=table, **located._asdict())


def _one_table(cursor: Cursor, statement: str) -> tuple[TableRef, Located]:
    """Parses the rest of the text as a FROM clause of one table, or one function that reads files."""
    at = cursor.peek().start
    located = locate(cursor.text, [Token("word", "FROM", "FROM", at, at), *cursor.tokens[cursor.at :]], strict=True)
    if len(located.tables) != 1:
        raise cursor.fault(f"expected one table or a query after {statement}")
    table = located.tables[0]
    end = (table.as_of or table).span.end
    cursor.at += sum(token.start < end for token in cursor.tokens[cursor.at :])
    if not cursor.ended():
        raise cursor.fault(f"expected the end after the table: {statement} SELECT … takes any query")
    return table, located
