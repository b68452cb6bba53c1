"""FROM clauses that join plain tables, in a form that allows join reordering. On demand only.

    FROM a, b AS x, c            tables, joined by commas, CROSS JOIN or [INNER] JOIN … ON …, up to the first outer join
    WHERE a.i = x.i AND c.n > 5  predicates, split at AND

A clause is left out when its order has a meaning: SELECT * shows the columns in it; USING, NATURAL and LATERAL refer to
earlier tables; commas mixed with JOIN … ON or outer joins have lower precedence; and DISTINCT ON takes the first row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinakes.core.names import Part
from pinakes.parser.columns import planned_tokens
from pinakes.parser.conditions import Condition, conditions
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.parameters import join_named
from pinakes.parser.statements import Planned, Span

_SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_AFTER = frozenset({"WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", ")", ""})
_OUTER = frozenset({"LEFT", "RIGHT", "FULL"})
_JOINS = frozenset({"JOIN", "INNER", "CROSS", ","}) | _OUTER
_ENDS = _AFTER | _SET_OPERATORS
_RESERVED = (
    _ENDS | _JOINS | {"ON", "USING", "NATURAL", "LATERAL", "ASOF", "SEMI", "ANTI", "FOR", "VERSION", "TIMESTAMP"}
)
_END = Token("end", "", "", -1, -1)


@dataclass(frozen=True, slots=True)
class FromItem:
    """A table with its alias; `table` is its index in the statement."""

    table: int
    span: Span
    name: Part
    """The qualifier of its columns."""


@dataclass(frozen=True, slots=True)
class FromClause:
    """`span` extends from the first table to the last, or to the last ON."""

    span: Span
    items: tuple[FromItem, ...]
    on: tuple[Condition, ...]
    where: tuple[Condition, ...]


def from_clauses(statement: Planned) -> tuple[FromClause, ...]:
    """Returns the clauses with at least three tables, at any level of the statement."""
    tokens = planned_tokens(statement, join_named(tokenize(statement.text)))
    tables = {ref.span.start: i for i, ref in enumerate(statement.tables) if ref.as_of is None and ref.call is None}
    found = (_Reader(tokens, at + 1, tables).read() for at in _places(tokens))
    return tuple(clause for clause in found if clause is not None and len(clause.items) > 2)


def _places(tokens: Sequence[Token]) -> Iterator[int]:
    """Yields the index of the FROM of each SELECT without a star."""
    selects: list[bool | None] = [None]
    """For each open bracket: None before a SELECT and after its FROM, otherwise whether the order of tables is free."""
    before = ""
    for at, token in enumerate(tokens):
        match token.word:
            case "(":
                selects.append(None)
            case ")" if len(selects) > 1:
                selects.pop()
            case "SELECT":
                selects[-1] = True
            case "*" if before in ("SELECT", "DISTINCT", "ALL", ",") and selects[-1]:
                selects[-1] = False
            case "ON" if selects[-1]:  # DISTINCT ON (…) *
                selects[-1] = False
            case "FROM" if selects[-1] is not None:
                if selects[-1]:
                    yield at
                selects[-1] = None
        before = token.word


class _Other(Exception):
    """The clause has an unsupported form."""


class _Reader:
    """Reads one FROM clause, from the token after FROM."""

    def __init__(self, tokens: Sequence[Token], at: int, tables: dict[int, int]) -> None:
        self._tokens = tokens
        self._at = at
        self._tables = tables

    def read(self) -> FromClause | None:
        try:
            return self._clause()
        except _Other:
            return None

    def _clause(self) -> FromClause:
        items, on = [self._item()], list[Condition]()
        words = set[str]()
        end = items[0].span.end
        while (word := self._join()) in (",", "CROSS", "JOIN"):
            words.add(word)
            items.append(self._item())
            end = items[-1].span.end
            if word == "JOIN":
                on += self._on()
                end = self._tokens[self._at - 1].end
        if "," in words and (word in _OUTER or on):
            raise _Other
        if not all(condition.is_plain for condition in on):  # a query in it has its own names
            raise _Other
        self._skip_to_where()
        where = self._condition() if self._word == "WHERE" else []
        return FromClause(Span(items[0].span.start, end), tuple(items), tuple(on), tuple(where))

    @property
    def _token(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    @property
    def _word(self) -> str:
        return self._token.word

    def _next(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _item(self) -> FromItem:
        first = self._token
        if first.start not in self._tables:
            raise _Other
        last = self._name()
        while self._word == ".":
            self._next()
            last = self._name()
        if self._word == "AS":
            self._next()
            last = self._name()
        elif self._token.kind in ("word", "quoted") and self._word not in _RESERVED:
            last = self._name()
        name = Part(last.text, last.kind == "quoted")
        return FromItem(self._tables[first.start], Span(first.start, last.end), name)

    def _name(self) -> Token:
        if self._token.kind not in ("word", "quoted") or self._word in _RESERVED:
            raise _Other
        return self._next()

    def _join(self) -> str:
        """Parses the join operator of the next table: `,`, CROSS or JOIN; otherwise returns the current word."""
        word = self._word
        if word == ",":
            self._next()
        elif word in ("JOIN", "INNER", "CROSS"):
            self._next()
            if word != "JOIN" and self._next().word != "JOIN":
                raise _Other
            word = "CROSS" if word == "CROSS" else "JOIN"
        elif word not in _ENDS and word not in _OUTER:
            raise _Other
        return word

    def _on(self) -> list[Condition]:
        if self._word != "ON":
            raise _Other
        return self._condition()

    def _condition(self) -> list[Condition]:
        """Parses the predicate after this word."""
        self._next()
        start = self._at
        self._skip(_ENDS | _JOINS)
        return conditions(self._tokens[start : self._at])

    def _skip_to_where(self) -> None:
        while self._word not in _ENDS:
            self._next()
            self._skip(_ENDS)

    def _skip(self, ends: frozenset[str]) -> None:
        """Moves to one of these words outside of brackets; LEFT( and RIGHT( are functions."""
        depth = 0
        while self._at < len(self._tokens):
            word = self._word
            if depth == 0 and word in ends and word != "" and not self._is_call():
                return
            depth += (word == "(") - (word == ")")
            self._next()

    def _is_call(self) -> bool:
        after = self._tokens[self._at + 1].word if self._at + 1 < len(self._tokens) else ""
        return self._word in _OUTER and after == "("
