"""INTERSECT ALL and EXCEPT ALL, which count duplicates: DataFusion would count them wrongly.

a EXCEPT ALL b:  the rows of both sides are grouped with their numbers, and each group is returned as often as it is
in a and not in b. NULLs are equal in a group.

    (SELECT * EXCLUDE ("$l", "$r") FROM (SELECT *, unnest(range("$l" - "$r")) … GROUP BY ALL))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import CLOSE, OPEN, inserted, replaced, word

_STRENGTHS = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}
_TAILS = frozenset({"ORDER", "LIMIT", "OFFSET", "FETCH"})
_STARTS = frozenset({"SELECT", "VALUES", "FROM", "TABLE", "("})
_BEFORE = (
    '(SELECT * EXCLUDE ("$n", "$u") FROM (SELECT *, unnest(range("$n")) AS "$u" FROM (SELECT * EXCLUDE ("$l", "$r"), '
    'greatest({0}, 0) AS "$n" FROM (SELECT *, 1 AS "$l", 0 AS "$r" FROM ('
)
_COUNTS = {
    "INTERSECT": 'least(sum("$l"), sum("$r"))',
    "EXCEPT": 'sum("$l") - sum("$r")',
}
_BETWEEN = ") UNION ALL SELECT *, 0, 1 FROM ("
_BEHIND = ")) GROUP BY ALL)))"


@dataclass(slots=True)
class _Level:
    """The set operations of one query: indexes of tokens."""

    start: int
    """The first token of its first operand."""
    operators: list[int]
    ended: int | None = None
    """The token after its last operand."""
    is_query: bool = False


@dataclass(frozen=True, slots=True)
class _Operand:
    """Tokens from `first` up to the one before `end`."""

    first: int
    end: int


def multisets(tokens: Sequence[Token]) -> list[Repair]:
    """Returns the rewrites of the text."""
    before, behind = dict[int, str](), dict[int, str]()
    found = list[Repair]()
    for level in _levels(tokens):
        for at, left, right in _operations(tokens, level):
            if tokens[at].word == "UNION" or word(tokens, at + 1) != "ALL":
                continue
            start, end = tokens[left.first].start, tokens[right.end - 1].end
            before[start] = before.get(start, "") + _BEFORE.format(_COUNTS[tokens[at].word])
            behind[end] = _BEHIND + behind.get(end, "")
            found.append(replaced(tokens[at], tokens[at + 1], _BETWEEN))
    found += [inserted(start, text) for start, text in before.items()]
    return found + [inserted(end, text) for end, text in behind.items()]


def _levels(tokens: Sequence[Token]) -> Iterator[_Level]:
    """Yields each query that has set operations."""
    levels = [_Level(0, [])]
    for at, token in enumerate(tokens):
        level, text = levels[-1], token.word
        if text in OPEN:
            if text == "(" and not level.is_query and word(tokens, at - 1) in ("", "(", ")") | _STRENGTHS.keys():
                level.start = level.start if level.operators else at
            levels.append(_Level(at + 1, []))
        elif text in CLOSE:
            done = levels.pop()
            done.ended = at if done.ended is None else done.ended
            if done.operators:
                yield done
        elif text in _STRENGTHS and not _is_of_star(tokens, at) and level.ended is None:
            level.operators.append(at)
        elif text in _TAILS and level.operators and level.ended is None and not _is_name(tokens, at):
            level.ended = at
        elif text in _STARTS and not level.is_query and not _is_name(tokens, at):
            level.is_query = True
            level.start = level.start if level.operators else at
    done = levels[0]
    done.ended = len(tokens) if done.ended is None else done.ended
    if done.operators:
        yield done


def _operations(tokens: Sequence[Token], level: _Level) -> list[tuple[int, _Operand, _Operand]]:
    """Returns each operator with its operands, outer ones first."""
    found = list[tuple[int, _Operand, _Operand]]()
    assert level.ended is not None
    edges = level.operators
    operands = [_Operand(level.start, edges[0])]
    for at, end in zip(edges, [*edges[1:], level.ended], strict=True):
        operands.append(_Operand(_operand_start(tokens, at), end))
    waiting = list[int]()
    left = [operands[0]]

    def reduce(strength: int) -> None:
        while waiting and _STRENGTHS[tokens[waiting[-1]].word] >= strength:
            right, first, at = left.pop(), left.pop(), waiting.pop()
            found.append((at, first, right))
            left.append(_Operand(first.first, right.end))

    for at, operand in zip(edges, operands[1:], strict=True):
        reduce(_STRENGTHS[tokens[at].word])
        waiting.append(at)
        left.append(operand)
    reduce(0)
    return found[::-1]


def _operand_start(tokens: Sequence[Token], at: int) -> int:
    at += 1
    while word(tokens, at) in ("ALL", "DISTINCT", "BY", "NAME"):
        at += 1
    return at


def _is_of_star(tokens: Sequence[Token], at: int) -> bool:
    """SELECT * EXCEPT (a)"""
    return word(tokens, at - 1) == "*" and word(tokens, at + 1) == "(" and word(tokens, at + 2) not in _STARTS


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    return "." in (word(tokens, at - 1), word(tokens, at + 1))
