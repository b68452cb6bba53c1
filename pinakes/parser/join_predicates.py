"""Predicates that compare rows of several tables, in a text for DataFusion. On demand only.

    FROM a JOIN b ON a.i = b.i AND a.n < b.n + 5 WHERE a.m > 3      a.n < b.n + 5

Equalities of columns, which are join keys, and predicates on one table are not included. The table of an unqualified
name is unknown here: `loose` includes predicates with several such names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.parser.conditions import Condition, Named, conditions
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.parameters import join_named
from pinakes.parser.statements import Span

_ENDS = frozenset(
    "WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT "
    "JOIN INNER CROSS LEFT RIGHT FULL NATURAL WHEN".split()
) | {",", ";"}
_CALLED = frozenset({"LEFT", "RIGHT"})
"""Words that are functions if a bracket follows."""
_WORDS = frozenset(
    "AND OR NOT IN IS NULL LIKE ILIKE SIMILAR BETWEEN ESCAPE TRUE FALSE UNKNOWN DISTINCT FROM TO CASE WHEN THEN ELSE "
    "END INTERVAL DATE TIME TIMESTAMP AS ANY ALL SOME AT ZONE SYMMETRIC ASYMMETRIC COLLATE".split()
)
_LOWER = frozenset({"AND", "OR", "XOR", "NOT", "CASE"})
"""Operators of lower precedence than `=`."""
_QUERY = frozenset({"SELECT", "VALUES", "TABLE", "WITH"})


def join_predicates(text: str, *, loose: bool) -> list[Span]:
    """Returns their spans, which do not overlap."""
    tokens = join_named(tokenize(text))
    return [
        condition.span
        for part in _clauses(tokens)
        for condition in conditions(part)
        if _compares(condition, loose=loose) and not _is_key_or_query(_of(tokens, condition.span))
    ]


def _clauses(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yields the predicate of each ON and WHERE, also of nested queries."""
    for at, token in enumerate(tokens):
        is_clause = token.word == "WHERE" or (token.word == "ON" and _word(tokens, at - 1) != "DISTINCT")
        if is_clause:
            yield tokens[at + 1 : _end(tokens, at + 1)]


def _end(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        word = tokens[at].word
        if depth == 0 and (word == ")" or (word in _ENDS and not _is_inner(tokens, at))):
            break
        depth += (word in ("(", "[", "CASE")) - (word in (")", "]", "END"))
        at += 1
    return at


def _is_inner(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether this is the function LEFT( or RIGHT(, not a join."""
    return tokens[at].word in _CALLED and _word(tokens, at + 1) == "("


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].word if 0 <= at < len(tokens) else ""


def _compares(condition: Condition, *, loose: bool) -> bool:
    named = [n for n in condition.named if not _is_word(n)]
    tables = {n.qualifier.text.lower() for n in named if n.qualifier is not None}
    bare = {n.name.text.lower() for n in named if n.qualifier is None}
    return len(tables) > 1 or (loose and bool(bare) and len(bare) + len(tables) > 1)


def _is_word(named: Named) -> bool:
    return named.qualifier is None and not named.name.quoted and named.name.text.upper() in _WORDS


def _of(tokens: Sequence[Token], span: Span) -> list[Token]:
    return [t for t in tokens if span.start <= t.start < span.end]


def _is_key_or_query(tokens: Sequence[Token]) -> bool:
    """Returns whether the predicate may be a join key, an equality whose sides are of different tables, or contains
    a query, which has its own names.
    """
    words = [t.word for t in tokens]
    if any(word in _QUERY for word in words):
        return True
    if sum(word in ("=", "==") for word in words) != 1 or any(word in _LOWER for word in words):
        return False
    at = next(i for i, word in enumerate(words) if word in ("=", "=="))
    sides = [{str(n.qualifier) for c in conditions(side) for n in c.named} for side in (tokens[:at], tokens[at + 1 :])]
    return all(sides) and (sides[0].isdisjoint(sides[1]) or sides == [{"None"}, {"None"}])
