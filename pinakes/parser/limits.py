"""Limits the length of operator chains before DataFusion plans them, since it has no limit of its own.

Its parser reads `1 + 1 + 1 …` in a loop, and later stages recurse once per operator: some 5,000 take a minute, and
20,000 overflow the stack and end the process. Set operators and joins nest plans in the same way. Lists (IN, VALUES,
columns, arguments, WHEN … THEN) are flat and may have any length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token

MOST_CHAINED = 1000
MOST_SET_OPERATORS = 500
MOST_JOINS = 500
MOST_DEFINED = 1000
MOST_GROUPING_SETS = 4096
"""DataFusion's own limit, which it checks only after it has made all of them."""
MOST_OF_NAME = 5000
"""Maximum characters of a name: an unknown name is compared with all known ones."""

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_LOGICAL = frozenset({"AND", "OR", "XOR"})
_OPERATORS = frozenset(
    {"+", "-", "*", "/", "//", "%", "**", "^", "&", "|", "#", "~", "!", "||", "&&", "::", "->", "->>", "#>", "#>>"}
    | {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>", "@>", "<@", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*"}
    | {"NOT", "IS", "IN", "LIKE", "ILIKE", "SIMILAR", "BETWEEN", "DIV", "AT", "COLLATE", "INTERVAL", "OVERLAPS", "["}
)
_GROUPING_SETS = frozenset({"CUBE", "ROLLUP", "SETS"})
_SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_BOUNDS = frozenset(
    {",", "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "VALUES", "SET"}
    | {"JOIN", "ON", "WHEN", "THEN", "ELSE"}
    | _SET_OPERATORS
)
_FROM_ENDS = _BOUNDS - {",", "FROM", "JOIN", "ON", "WHEN", "THEN", "ELSE"}
_COUNTED = _OPERATORS | _LOGICAL | {"CASE"}
_READ = _COUNTED | _OPEN | _CLOSE | _BOUNDS | {"END"}


class _Level:
    """The expression within one pair of brackets, or within CASE … END, and the depth of its tree."""

    __slots__ = ("inner", "is_case", "items", "logical", "operands", "operators")

    def __init__(self, is_case: bool) -> None:
        self.is_case = is_case
        self.items = 0
        """The maximum depth of the finished items."""
        self.operands = 0
        """The maximum depth of this item's finished operands of AND and OR."""
        self.logical = 0
        self.operators = 0
        self.inner = 0

    def depth(self) -> int:
        return max(self.items, self.logical + max(self.operands, self.operators + self.inner))

    def next_operand(self) -> None:
        """Ends an operand of AND or OR: the maximum of the operands counts, not their sum."""
        self.operands = max(self.operands, self.operators + self.inner)
        self.operators = self.inner = 0

    def next_item(self) -> None:
        self.items = self.depth()
        self.operands = self.logical = self.operators = self.inner = 0


def check_chains(tokens: Sequence[Token], words: Sequence[str]) -> None:
    """Raises a Fault at the operator, join or query that exceeds a limit, and at CUBE of too many columns."""
    for token in tokens:
        if token.kind in ("word", "quoted") and token.end - token.start > MOST_OF_NAME + 2:
            raise Fault(f"names may have up to {MOST_OF_NAME:,} characters", token.start)
    if not _GROUPING_SETS.isdisjoint(words):
        _check_groups(tokens)
    if len(tokens) <= min(MOST_CHAINED, MOST_SET_OPERATORS, MOST_JOINS, MOST_DEFINED):
        return
    counts = Counter(words)
    if sum(counts[w] for w in _SET_OPERATORS) > MOST_SET_OPERATORS:
        _check_count(tokens, MOST_SET_OPERATORS, "set operators", [w in _SET_OPERATORS for w in words])
    if counts["FROM"] and counts["JOIN"] + counts[","] > MOST_JOINS:
        _check_count(tokens, MOST_JOINS, "joins", list(_joins(words)))
    if counts["AS"] > MOST_DEFINED:
        _check_count(tokens, MOST_DEFINED, "queries in WITH", list(_definitions(words)))
    if sum(counts[w] for w in _COUNTED) > MOST_CHAINED:
        _check_depth(tokens, words)


def _check_groups(tokens: Sequence[Token]) -> None:
    """Checks grouping sets: CUBE of n columns is 2^n of them, and several are multiplied."""
    sets = 1
    for at, token in enumerate(tokens[:-1]):
        if token.word == "GROUP":
            sets = 1
        elif token.word in _GROUPING_SETS and tokens[at + 1].word == "(":
            items = _items(tokens, at + 2)
            sets *= 2 ** min(items, 64) if token.word == "CUBE" else items + (token.word == "ROLLUP")
            if sets > MOST_GROUPING_SETS:
                message = f"more than {MOST_GROUPING_SETS} grouping sets in one GROUP BY are not supported"
                raise Fault(message, token.start, unsupported=True)


def _items(tokens: Sequence[Token], at: int) -> int:
    """Returns the number of items in the open brackets."""
    depth, items = 1, 1
    while depth and at < len(tokens):
        word = tokens[at].word
        depth += (word in _OPEN) - (word in _CLOSE)
        items += depth == 1 and word == ","
        at += 1
    return items


def _check_count(tokens: Sequence[Token], most: int, what: str, counted: list[bool]) -> None:
    if sum(counted) <= most:
        return
    place = [at for at, is_one in enumerate(counted) if is_one][most]
    hint = "list rows in VALUES, or go by way of a table"
    message = f"more than {most} {what} in one statement are not supported: {hint}"
    raise Fault(message, tokens[place].start, unsupported=True)


def _joins(words: Sequence[str]) -> Iterator[bool]:
    """Yields for each word whether it joins: JOIN, or a comma in FROM."""
    within = [False]
    for before, word in zip(["", *words], words, strict=False):
        if word in _OPEN:
            within.append(False)
        elif word in _CLOSE and len(within) > 1:
            within.pop()
        elif word == "FROM":
            within[-1] = before != "DISTINCT"
        elif word in _FROM_ENDS:
            within[-1] = False
        yield word == "JOIN" or (word == "," and within[-1])


def _definitions(words: Sequence[str]) -> Iterator[bool]:
    """Yields for each word whether it opens a query in WITH, or another definition of that form."""
    for before, word in zip(["", *words], words, strict=False):
        yield word == "(" and before in ("AS", "MATERIALIZED")


def _check_depth(tokens: Sequence[Token], words: Sequence[str]) -> None:
    for at, depth in _depths(words):
        if depth > MOST_CHAINED:
            raise Fault(
                f"more than {MOST_CHAINED} operators in one expression are not supported: write x IN (…) instead "
                "of many ORs, or join a list of VALUES",
                tokens[at].start,
                unsupported=True,
            )


def _depths(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yields each index that makes an expression deeper, with the depth of its tree up to there."""
    levels = [_Level(is_case=False)]
    for at, word in enumerate(words):
        if word not in _READ:
            continue
        level = levels[-1]
        level.operators += word in _OPERATORS
        if word in _LOGICAL:
            level.next_operand()
            level.logical += 1
        elif word in _OPEN or word == "CASE":
            levels.append(_Level(word == "CASE"))
        elif word in _CLOSE or (word == "END" and level.is_case):
            _close(levels, word)
        elif word in _BOUNDS:
            level.next_item()
        yield at, levels[-1].depth()


def _close(levels: list[_Level], word: str) -> None:
    while word != "END" and levels[-1].is_case and len(levels) > 1:  # a CASE without its END
        levels.pop()
    if len(levels) > 1:
        inside = levels.pop().depth() + 1
        levels[-1].inner = max(levels[-1].inner, inside)
