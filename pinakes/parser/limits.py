"""How long a chain of operators may be. Checked before DataFusion sees it: it has no limit of its own there.

Its parser reads `1 + 1 + 1 …` in a loop, and everything after it walks the tree, one call for each operator: from
some 5,000 on that takes a minute, and at 20,000 the stack and with it the process is gone. Set operators and joins
nest plans in the same way. Lists (IN, VALUES, columns, arguments, WHEN … THEN) are flat and may be of any length.
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
"""As many as DataFusion plans; it counts them when it has made them all."""
MOST_OF_NAME = 5000
"""Characters: a name that is not known is compared with all that are."""

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_LOGICAL = frozenset({"AND", "OR", "XOR"})
_OPERATORS = frozenset(
    {"+", "-", "*", "/", "//", "%", "**", "^", "&", "|", "#", "~", "!", "||", "&&", "::", "->", "->>", "#>", "#>>"}
    | {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>", "@>", "<@", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*"}
    | {"NOT", "IS", "IN", "LIKE", "ILIKE", "SIMILAR", "BETWEEN", "DIV", "AT", "COLLATE", "INTERVAL", "OVERLAPS", "["}
)
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
    """The expression within one pair of brackets, or within CASE … END: how deep its tree gets."""

    __slots__ = ("inner", "is_case", "items", "logical", "operands", "operators")

    def __init__(self, is_case: bool) -> None:
        self.is_case = is_case
        self.items = 0
        """The deepest of the items that are done."""
        self.operands = 0
        """The deepest of this item's operands of AND and OR that are done."""
        self.logical = 0
        self.operators = 0
        self.inner = 0

    def depth(self) -> int:
        return max(self.items, self.logical + max(self.operands, self.operators + self.inner))

    def next_operand(self) -> None:
        """AND and OR take whole comparisons: the deepest of these counts, not their sum."""
        self.operands = max(self.operands, self.operators + self.inner)
        self.operators = self.inner = 0

    def next_item(self) -> None:
        self.items = self.depth()
        self.operands = self.logical = self.operators = self.inner = 0


def check_chains(tokens: Sequence[Token]) -> None:
    """A Fault at the operator, join or query that is one too many, and at CUBE of too many columns."""
    for token in tokens:
        if token.kind in ("word", "quoted") and token.end - token.start > MOST_OF_NAME + 2:
            raise Fault(f"names may have up to {MOST_OF_NAME:,} characters", token.start)
    _check_groups(tokens)
    if len(tokens) <= min(MOST_CHAINED, MOST_SET_OPERATORS, MOST_JOINS, MOST_DEFINED):
        return
    words = [t.word for t in tokens]
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
    """CUBE of n columns is 2^n GROUP BYs in one, and those of several are multiplied."""
    sets = 1
    for at, token in enumerate(tokens[:-1]):
        if token.word == "GROUP":
            sets = 1
        elif token.word in ("CUBE", "ROLLUP", "SETS") and tokens[at + 1].word == "(":
            items = _items(tokens, at + 2)
            sets *= 2 ** min(items, 64) if token.word == "CUBE" else items + (token.word == "ROLLUP")
            if sets > MOST_GROUPING_SETS:
                message = f"more than {MOST_GROUPING_SETS} grouping sets in one GROUP BY are not supported"
                raise Fault(message, token.start, unsupported=True)


def _items(tokens: Sequence[Token], at: int) -> int:
    """How many there are in the brackets that are open."""
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
    """For each word whether it joins: JOIN, or a comma in FROM."""
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
    """For each word whether it opens a query in WITH, or something else that is given a name that way."""
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
    """Each place that makes an expression deeper, and how deep its tree is up to there."""
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
