"""Splitting text into statements: the server takes one at a time, and dbt's macros and hooks give several."""

from __future__ import annotations

import re
from collections.abc import Iterator

# As the server reads text: '' and "" within quotes, backslashes in E'…', dollar-quoted strings, comments that nest.
_PIECE = re.compile(
    r"""(?:
      (?P<quoted>(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*`)
    | (?P<dollar>(?<![\w$])\$(?P<tag>[^\W\d]\w*)?\$.*?\$(?(tag)(?P=tag))\$)
    | (?P<line>--[^\n]*)
    | (?P<block>/\*)
    | (?P<end>;)
    | (?P<other>\S)
    )""",
    re.VERBOSE | re.DOTALL,
)
_EDGE = re.compile(r"/\*|\*/")


def statements(text: str) -> list[str]:
    """The statements of a text; comments stay with what follows them, and what has nothing else is left out."""
    if ";" not in text:
        return [text] if _says_something(text) else []
    return [piece for piece in _pieces(text) if _says_something(piece)]


def _pieces(text: str) -> Iterator[str]:
    begin = 0
    for end in _ends(text):
        yield text[begin:end].strip()
        begin = end + 1
    yield text[begin:].strip()


def _ends(text: str) -> Iterator[int]:
    """Where semicolons stand that end a statement."""
    position = 0
    while found := _PIECE.search(text, position):
        position = _after_comment(text, found.start()) if found["block"] else found.end()
        if found["end"]:
            yield found.start()


def _says_something(text: str) -> bool:
    position = 0
    while found := _PIECE.search(text, position):
        if not (found["line"] or found["block"] or found["end"]):
            return True
        position = _after_comment(text, found.start()) if found["block"] else found.end()
    return False


def _after_comment(text: str, start: int) -> int:
    depth = 0
    for edge in _EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)  # never closed: the server says so better
