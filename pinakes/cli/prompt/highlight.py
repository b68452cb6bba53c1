"""Syntax highlighting at the prompt, based on the parser's own tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from pinakes.parser.keywords import KEYWORDS, TYPES, statement_words
from pinakes.parser.lexemes import Lexeme, lexemes

LONGEST = 30_000
"""Maximum characters that are highlighted; more would delay each key press."""

STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",
        "continuation": "ansibrightblack",
        "sql.keyword": "ansicyan bold",
        "sql.function": "ansiblue",
        "sql.string": "ansigreen",
        "sql.number": "ansimagenta",
        "sql.comment": "ansibrightblack italic",
        "sql.name": "ansiyellow",
        "sql.command": "ansiyellow bold",
        "auto-suggestion": "ansibrightblack",
    }
)
_STYLES = {
    "string": "class:sql.string",
    "number": "class:sql.number",
    "parameter": "class:sql.number",
    "quoted": "class:sql.name",
    "comment": "class:sql.comment",
}
_WORDS = KEYWORDS | TYPES | frozenset(statement_words())


class SqlLexer(Lexer):
    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines = highlight(document.text)
        return lambda number: lines[number] if number < len(lines) else []


@lru_cache(maxsize=8)
def highlight(text: str) -> list[StyleAndTextTuples]:
    """Returns the lines of a text, each as styled pieces."""
    lines: list[StyleAndTextTuples] = [[]]
    if len(text) > LONGEST:
        _add(lines, "", text)
        return lines
    if text.lstrip().startswith("\\"):
        _add(lines, "class:sql.command", text)
        return lines
    at = 0
    found = lexemes(text)
    for number, lexeme in enumerate(found):
        _add(lines, "", text[at : lexeme.start])
        _add(
            lines,
            _style(lexeme, found[number + 1] if number + 1 < len(found) else None),
            text[lexeme.start : lexeme.end],
        )
        at = lexeme.end
    _add(lines, "", text[at:])
    return lines


def _style(lexeme: Lexeme, following: Lexeme | None) -> str:
    if lexeme.kind != "word":
        return _STYLES.get(lexeme.kind, "")
    if lexeme.word in _WORDS:
        return "class:sql.keyword"
    return "class:sql.function" if following is not None and following.word == "(" else ""


def _add(lines: list[StyleAndTextTuples], style: str, text: str) -> None:
    """Adds a piece, which may contain line breaks."""
    for number, part in enumerate(text.split("\n")):
        if number:
            lines.append([])
        if part:
            lines[-1].append((style, part))
