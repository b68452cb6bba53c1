"""Any text → what may be shown of it, for logs, the history of a shell and errors; also text that can't be read."""

from __future__ import annotations

from pinakes.parser.brackets import check_brackets
from pinakes.parser.cursor import Cursor
from pinakes.parser.dispatch import is_start, statement
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize_what_fits
from pinakes.parser.masking import (
    Piece,
    carries_secrets,
    comment_pieces,
    password_pieces,
    replaced,
    unread_pieces,
)
from pinakes.parser.statements import Span

_OPENLY_MADE = frozenset({"TABLE", "VIEW", "SCHEMA", "NAMESPACE", "DATABASE"})


def mask(sql: str) -> str:
    """`sql` with every secret value replaced; never an error, whatever the text."""
    return replaced(sql, pieces(sql))[0]


def pieces(sql: str) -> list[Piece]:
    """All that must not be shown of a text of any number of statements."""
    tokens, fault = tokenize_what_fits(sql)
    found = password_pieces(sql)
    start = first = 0
    for at in [*(i for i, t in enumerate(tokens) if t.word == ";"), len(tokens)]:
        broken = fault is not None and at == len(tokens)
        found += _pieces_of(sql, tokens[first:at], start, broken)
        start, first = tokens[at].end if at < len(tokens) else start, at + 1
    if fault is not None and not _is_plain(_last_statement(tokens)):
        found.append((Span(fault.offset, len(sql)), "***"))
    return found


def _pieces_of(sql: str, tokens: list[Token], start: int, broken: bool) -> list[Piece]:
    """Those of one statement, whose text begins at `start`."""
    if not tokens or _is_plain(tokens):
        return []
    secret = carries_secrets(tokens)
    comments = comment_pieces(sql, tokens, start) if secret else []
    read = None if broken else _pieces_if_read(sql, tokens)
    if read is None:
        read = unread_pieces(tokens, strings_only=not secret)
    return comments + read


def _pieces_if_read(sql: str, tokens: list[Token]) -> list[Piece] | None:
    cursor = Cursor(sql, tokens)
    try:
        check_brackets(tokens)
        statement(cursor)
    except Fault:
        return None
    return cursor.hidden


def _is_plain(tokens: list[Token]) -> bool:
    """Whether a statement surely gives no secret: a known start, and nothing like ATTACH. A typing error isn't sure."""
    if not tokens or not is_start(tokens[0].word) or carries_secrets(tokens):
        return False
    return tokens[0].word != "CREATE" or any(t.word in _OPENLY_MADE for t in tokens[1:6])


def _last_statement(tokens: list[Token]) -> list[Token]:
    ends = [i for i, t in enumerate(tokens) if t.word == ";"]
    return tokens[ends[-1] + 1 :] if ends else tokens
