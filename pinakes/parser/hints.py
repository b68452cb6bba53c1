"""Hints in a comment of a statement: SELECT /*+ ENGINE(spark) */ …."""

from __future__ import annotations

import re

from pinakes.parser.lexer import tokenize_what_fits

_HINTS = re.compile(r"/\*\+(.*?)\*/", re.DOTALL)
_ENGINE = re.compile(r"\bENGINE\s*\(\s*(\w+)\s*\)", re.IGNORECASE)


def engine_hint(text: str) -> str | None:
    """Returns the engine that a hint names, in lower case. A hint inside a string is ignored."""
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
