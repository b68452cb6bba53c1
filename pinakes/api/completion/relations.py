"""The tables of a statement with their aliases, and those visible at the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pinakes.core.names import Part
from pinakes.parser.keywords import RESERVED
from pinakes.parser.lexemes import Lexeme

_BEFORE_NAMES = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "USING", "TABLE"})
_NO_ALIAS = RESERVED | {"FILTER", "TABLESAMPLE", "VERSION", "TIMESTAMP", "MATCHED"}
Group = tuple[int, ...]
"""The numbers of the brackets around a token, from the outermost inward."""


class Relation(NamedTuple):
    name: tuple[Part, ...]
    alias: Part | None
    group: Group

    @property
    def called(self) -> Part:
        """The qualifier of its columns."""
        return self.alias or self.name[-1]


def in_sight(before: Sequence[Lexeme], after: Sequence[Lexeme]) -> list[Relation]:
    """Returns the relations whose columns are visible at the cursor: those of its query and of the enclosing ones.
    Without any, all relations of the statement, because the columns of a subquery are often typed first."""
    tokens = [*before, *after]
    groups = _groups(tokens)
    here = _groups(before, closed=False)[-1] if before else ()
    found = [relation for at in range(len(tokens)) for relation in _starting_at(tokens, groups, at)]
    seen = [relation for relation in found if here[: len(relation.group)] == relation.group]
    return seen or found


def common_tables(tokens: Sequence[Lexeme]) -> list[str]:
    """Returns the names of common table expressions."""
    if not any(token.word == "WITH" for token in tokens):
        return []
    return [
        name.text
        for name, word, bracket in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if _is_name(name) and word.word == "AS" and bracket.word == "("
    ]


def _groups(tokens: Sequence[Lexeme], *, closed: bool = True) -> list[Group]:
    """Returns the brackets around each token; with `closed` false the last entry is the innermost open bracket after
    it."""
    groups: list[Group] = []
    group: Group = ()
    number = 0
    for token in tokens:
        if token.word == ")":
            group = group[:-1]
        groups.append(group)
        if token.word == "(":
            number += 1
            group = (*group, number)
    return groups if closed else [*groups, group]


def _starting_at(tokens: Sequence[Lexeme], groups: Sequence[Group], at: int) -> list[Relation]:
    """Returns the relations listed after a FROM, JOIN, INTO …"""
    found: list[Relation] = []
    if tokens[at].word not in _BEFORE_NAMES or (tokens[at].word == "FROM" and _is_argument(tokens, at)):
        return found
    at += 1
    while at < len(tokens) and _is_name(tokens[at]):
        group = groups[at]
        name, at = _name(tokens, at)
        alias, at = _alias(tokens, at)
        found.append(Relation(name, alias, group))
        if at >= len(tokens) or tokens[at].word != ",":
            break
        at += 1
    return found


def _is_argument(tokens: Sequence[Lexeme], at: int) -> bool:
    """Whether this FROM belongs to extract(… FROM …) or the like, and not to a list of tables."""
    depth = 0
    for token, previous in zip(reversed(tokens[1:at]), reversed(tokens[: at - 1]), strict=True):
        depth += (token.word == ")") - (token.word == "(")
        if token.word == "SELECT" and depth == 0:
            return False
        if depth < 0:
            return previous.word in {"EXTRACT", "TRIM", "SUBSTRING", "OVERLAY", "POSITION"}
    return False


def _name(tokens: Sequence[Lexeme], at: int) -> tuple[tuple[Part, ...], int]:
    parts = [_part(tokens[at])]
    at += 1
    while at + 1 < len(tokens) and tokens[at].word == "." and tokens[at + 1].kind in ("word", "quoted"):
        parts.append(_part(tokens[at + 1]))
        at += 2
    return tuple(parts), at


def _alias(tokens: Sequence[Lexeme], at: int) -> tuple[Part | None, int]:
    if at < len(tokens) and tokens[at].word == "AS":
        at += 1
    if at < len(tokens) and _is_name(tokens[at]) and tokens[at].word not in _NO_ALIAS:
        return _part(tokens[at]), at + 1
    return None, at


def _is_name(token: Lexeme) -> bool:
    return token.kind == "quoted" or (token.kind == "word" and token.word not in RESERVED)


def _part(token: Lexeme) -> Part:
    return Part(token.text, quoted=token.kind == "quoted")
