"""SELECT /*+ ENGINE(spark) */ …: what a comment at the beginning of a statement asks of the engine."""

from __future__ import annotations

import re

from pinakes.parser.lexer import tokenize_what_fits

_HINTS = re.compile(r"/\*\+(.*?)\*/", re.DOTALL)
_ENGINE = re.compile(r"\bENGINE\s*\(\s*(\w+)\s*\)", re.IGNORECASE)


def engine_hint(text: str) -> str | None:
    """The engine that a hint names, in lower case; it stands between two words, and not in a text."""
    if "/*+" not in text:
        return None
    tokens, _ = tokenize_what_fits(text)
    before = 0
    for token in tokens:
        for hints in _HINTS.findall(text[before : token.start]):
            found = _ENGINE.search(hints)
            if found is not None:
                return found[1].lower()
        before = token.end
    return None
