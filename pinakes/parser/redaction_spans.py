"""Redacts any text for logs, the shell's history and errors; also text that can't be parsed."""

from __future__ import annotations

from typing import NamedTuple

from pinakes.parser.brackets import check_brackets
from pinakes.parser.cursor import Cursor
from pinakes.parser.dispatch import is_start, statement
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize_what_fits
from pinakes.parser.redaction import (
    Piece,
    carries_secrets,
    comment_pieces,
    looks_secret,
    password_pieces,
    replaced,
    unread_pieces,
)
from pinakes.parser.statements import Span

_OPENLY_MADE = frozenset({"TABLE", "VIEW", "SCHEMA", "NAMESPACE", "DATABASE"})


def mask(sql: str) -> str:
    """Returns `sql` with every secret value replaced; never raises."""
    return replaced(sql, pieces(sql))[0]


def pieces(sql: str) -> list[Piece]:
    """Returns all spans to redact in a text of any number of statements."""
    tokens, fault = tokenize_what_fits(sql)
    readable = len(sql) if fault is None else fault.offset
    found = password_pieces(sql)
    start = first = 0
    suspect = False
    for at in [*(i for i, t in enumerate(tokens) if t.word == ";"), len(tokens)]:
        end = tokens[at].start if at < len(tokens) else readable
        part = _Part(tokens[first:at], Span(start, end), broken=fault is not None and at == len(tokens))
        new, unread = _pieces_of(sql, part, suspect)
        found += new
        suspect |= unread  # a stray semicolon may have split a statement with secrets
        start, first = end + 1, at + 1
    return found


class _Part(NamedTuple):
    """One statement of a text; `broken` if an unclosed token follows it."""

    tokens: list[Token]
    span: Span
    broken: bool


def _pieces_of(sql: str, part: _Part, suspect: bool) -> tuple[list[Piece], bool]:
    """Returns the spans of one statement, and whether it contains secrets and can't be parsed."""
    secret = suspect or carries_secrets(part.tokens)
    if not secret and (_is_plain(part.tokens) if part.tokens else not part.broken):
        return [], False
    read = None if part.broken or suspect else _pieces_if_read(sql, part.tokens)
    comments = comment_pieces(sql, part.tokens, part.span.start, part.span.end) if secret else []
    if read is not None:
        return comments + read, False
    tail = [(Span(part.span.end, len(sql)), "***")] if part.broken else []
    return [*comments, *unread_pieces(part.tokens, strings_only=not secret), *tail], secret


def _pieces_if_read(sql: str, tokens: list[Token]) -> list[Piece] | None:
    if not tokens:
        return []
    cursor = Cursor(sql, tokens)
    try:
        check_brackets(tokens)
        statement(cursor)
    except Fault:
        return None
    return cursor.hidden


def _is_plain(tokens: list[Token]) -> bool:
    """Returns whether a statement certainly contains no secret: it has a known start, and no property with the name
    of a secret. A misspelled statement is not certain.
    """
    if not is_start(tokens[0].word) or _names_a_secret(tokens):
        return False
    return tokens[0].word != "CREATE" or any(t.word in _OPENLY_MADE for t in tokens[1:6])


def _names_a_secret(tokens: list[Token]) -> bool:
    """Returns whether it may set a property that is a secret: WITH ('s3.secret-access-key' = '…')"""
    sets = tokens[0].word in ("CREATE", "ALTER") and any(
        t.word in ("WITH", "PROPERTIES", "TBLPROPERTIES") for t in tokens
    )
    return sets and any(looks_secret(t.text) for t in tokens)
