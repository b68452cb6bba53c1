"""Rewrites JSON functions that return rows to UNNEST in FROM.

FROM json_array_elements('[1]') AS e(v)     →  FROM unnest("$json_elements"('[1]')) AS e(v)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.core.errors import NotSupportedError
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair, Span

_FUNCTIONS = {
    "JSON_ARRAY_ELEMENTS": "$json_elements",
    "JSONB_ARRAY_ELEMENTS": "$json_elements",
    "JSON_ARRAY_ELEMENTS_TEXT": "$json_element_texts",
    "JSONB_ARRAY_ELEMENTS_TEXT": "$json_element_texts",
    "JSON_OBJECT_KEYS": "$json_object_keys",
    "JSONB_OBJECT_KEYS": "$json_object_keys",
}
JSON_ROWS = frozenset(_FUNCTIONS)
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_BEFORE = frozenset({"FROM", ",", "JOIN", "LATERAL"})
_AFTER_FROM = frozenset(
    "WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET FETCH SELECT UNION EXCEPT INTERSECT".split()
)


def json_rows(tokens: Sequence[Token]) -> Iterator[Repair]:
    is_from = [False]
    closings = dict[int, bool]()
    """Whether an open bracket is that of a call that is rewritten, by its depth."""
    for at, token in enumerate(tokens):
        word = token.word
        if word in _OPEN:
            is_from.append(False)
        elif word in _CLOSE and len(is_from) > 1:
            if closings.pop(len(is_from), False):
                yield Repair(Span(token.end, token.end), ")")
            is_from.pop()
        elif word == "FROM":
            is_from[-1] = at == 0 or tokens[at - 1].word != "DISTINCT"
        elif word in _AFTER_FROM:
            is_from[-1] = False
        elif word in JSON_ROWS and is_from[-1] and at and tokens[at - 1].word in _BEFORE:
            if tokens[at - 1].word != "FROM":
                raise NotSupportedError(
                    f"{word.lower()} beside other tables in FROM is not supported: write it in the SELECT list of a "
                    f"subquery, as in FROM (SELECT *, {word.lower()}(j) AS x FROM t) AS t"
                )
            closings[len(is_from) + 1] = True
            yield Repair(Span(token.start, token.end), f'unnest("{_FUNCTIONS[word]}"')
