"""Splits any text into tokens and comments, for highlighting and completion during typing.

Unlike `lexer.tokenize` it never fails: an unclosed lexeme extends to the end of the text and is marked as unclosed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pinakes.parser.lexer import Kind, comment_end, tokenize_what_fits

_COMMENT = re.compile(r"--|/\*")


class Lexeme(NamedTuple):
    """A token or a comment. `text` and `word` are those of a `Token`; `closed` is false without an end."""

    kind: Kind | Literal["comment"]
    text: str
    word: str
    start: int
    end: int
    closed: bool = True


def lexemes(text: str) -> list[Lexeme]:
    """Returns everything in `text` except white space, in order."""
    tokens, fault = tokenize_what_fits(text)
    readable = len(text) if fault is None else fault.offset
    found: list[Lexeme] = []
    at = 0
    for token in tokens:
        found += _comments(text, at, token.start)
        found.append(Lexeme(*token))
        at = token.end
    found += _comments(text, at, readable)
    if fault is not None:
        found.append(_unclosed(text, fault.offset))
    return found


def _comments(text: str, start: int, end: int) -> Iterator[Lexeme]:
    """Yields the comments between two tokens."""
    while found := _COMMENT.search(text, start, end):
        first = found.start()
        line_end = text.find("\n", first)
        if found[0] == "/*":
            start, closed = comment_end(text, first), True
        else:
            start, closed = (line_end, True) if line_end >= 0 else (len(text), False)
        yield Lexeme("comment", text[first:start], "", first, start, closed)


def _unclosed(text: str, start: int) -> Lexeme:
    """Returns a string, quoted identifier or comment up to the end of the text."""
    mark = text[start]
    if mark == "/":
        return Lexeme("comment", text[start:], "", start, len(text), closed=False)
    if mark in '"`':
        return Lexeme("quoted", text[start + 1 :].replace(mark * 2, mark), "", start, len(text), closed=False)
    begin = text.index("'", start) + 1 if mark != "$" else text.index("$", start + 1) + 1
    return Lexeme("string", text[begin:], "", start, len(text), closed=False)
