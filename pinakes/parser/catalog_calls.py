"""Functions of catalogs, called by qualified names: `mydb.main.fn(x)`. Found among the tokens, before sqlglot.

Where rows are expected (FROM, JOIN) a call is a table of the statement, with constants as its arguments (`calls.py`
parses it). In other places it is an expression: only its name is located, and sqlglot sees one word instead. The engine
resolves the function; an unknown one is left to DataFusion unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinakes.core.names import Name, Part
from pinakes.parser.lexer import Token
from pinakes.parser.statements import FunctionRef, Span

STAND_IN = "pinakes_function"
"""The word that sqlglot sees instead of a name."""

_ROWS = frozenset({"FROM", "JOIN", "LATERAL"})
_ENDS = frozenset(
    {"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "QUALIFY", "WINDOW", "SELECT", "UNION", "EXCEPT",
     "INTERSECT", "SET", "VALUES", "RETURNING", "WHEN"}
)  # fmt: skip
_STARTS = frozenset({"SELECT", "FROM", "WITH", "TABLE", "VALUES"})


class Dotted(NamedTuple):
    """A qualified name with a bracket after it: the indexes of its first token and of the bracket."""

    first: int
    bracket: int
    gives_rows: bool


def has_dotted_call(tokens: Sequence[Token]) -> bool:
    """Returns whether there may be such a call: most statements have none."""
    return any(
        t.word == "(" and i > 2 and tokens[i - 2].word == "." and _is_name(tokens[i - 1]) for i, t in enumerate(tokens)
    )


def dotted_calls(tokens: Sequence[Token]) -> Iterator[Dotted]:
    places = Places()
    at = 0
    while at < len(tokens):
        end = _name_end(tokens, at)
        if end > at + 1 and end < len(tokens) and tokens[end].word == "(":
            yield Dotted(at, end, places.rows)
            for token in tokens[at:end]:
                places.see(token, is_name=True)
            at = end
        places.see(tokens[at])
        at += 1


def function_refs(tokens: Sequence[Token]) -> tuple[FunctionRef, ...]:
    """Returns the calls that are expressions."""
    if not has_dotted_call(tokens):
        return ()
    found = [call for call in dotted_calls(tokens) if not call.gives_rows]
    return tuple(_ref(tokens, call) for call in found)


def without_refs(tokens: list[Token]) -> list[Token]:
    """Returns the tokens with one word instead of the name of each call that is an expression."""
    if not has_dotted_call(tokens):
        return tokens
    kept: list[Token] = []
    done = 0
    for call in dotted_calls(tokens):
        if not call.gives_rows:
            kept += tokens[done : call.first]
            start, end = tokens[call.first].start, tokens[call.bracket - 1].end
            kept.append(Token("word", STAND_IN, STAND_IN.upper(), start, end))
            done = call.bracket
    return [*kept, *tokens[done:]]


def name_at(tokens: Sequence[Token], first: int, bracket: int) -> Name:
    return Name(tuple(Part(t.text, t.kind == "quoted") for t in tokens[first:bracket:2]))


def _ref(tokens: Sequence[Token], call: Dotted) -> FunctionRef:
    name = name_at(tokens, call.first, call.bracket)
    span = Span(tokens[call.first].start, tokens[call.bracket - 1].end)
    return FunctionRef(name, span, tokens[call.bracket].end, _arguments(tokens, call.bracket))


def _arguments(tokens: Sequence[Token], bracket: int) -> int:
    """Returns the number of arguments in the brackets."""
    depth, commas = 0, 0
    for at in range(bracket, len(tokens)):
        word = tokens[at].word
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        commas += depth == 1 and word == ","
        if depth == 0:
            return 0 if at == bracket + 1 else commas + 1
    return commas + 1


def _name_end(tokens: Sequence[Token], at: int) -> int:
    """Returns the end of the qualified name that starts here; `at` if there is none."""
    if not _is_name(tokens[at]) or (at and tokens[at - 1].word == "."):
        return at
    end = at + 1
    while end + 1 < len(tokens) and tokens[end].word == "." and _is_name(tokens[end + 1]):
        end += 2
    return end


def _is_name(token: Token) -> bool:
    return token.kind in ("word", "quoted")


class _Level:
    """A query, or an expression, within one pair of brackets."""

    __slots__ = ("clause", "expects", "is_query")

    def __init__(self, *, expects: bool) -> None:
        self.is_query = False
        self.clause = False
        """In FROM or ON: the next table follows a comma."""
        self.expects = expects
        """Whether the next token is a table."""


class Places:
    """Tracks whether rows or a value are expected at the current token."""

    def __init__(self) -> None:
        self._levels = [_Level(expects=False)]
        self._first = True

    @property
    def rows(self) -> bool:
        return self._levels[-1].expects

    def see(self, token: Token, *, is_name: bool = False) -> None:
        level, word = self._levels[-1], "" if is_name else token.word
        if word in ("(", "[", "{"):
            self._levels.append(_Level(expects=level.expects and word == "("))
            level.expects = False
            self._first = True
            return
        if word in (")", "]", "}"):
            if len(self._levels) > 1:
                self._levels.pop()
            self._first = False
            return
        self._clause(level, word)
        self._first = False

    def _clause(self, level: _Level, word: str) -> None:
        if word in _STARTS and (self._first or word in ("SELECT", "WITH")):
            level.is_query, level.expects = True, False
        if word in _ROWS and (level.is_query or word != "FROM" or len(self._levels) == 1):
            level.clause = level.expects = True
        elif word in _ENDS:
            level.clause = level.expects = False
        elif word == ",":
            level.expects = level.clause
        else:
            level.expects = False
