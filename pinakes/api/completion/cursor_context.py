"""Determines from the tokens before the cursor what is expected there: a table, a column, a setting …."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pinakes.parser.keywords import KEYWORDS, RESERVED
from pinakes.parser.lexemes import Lexeme

Expected = Literal[
    "statement", "query", "relation", "place", "catalog", "column", "setting", "file", "show", "keyword", "nothing"
]
"""`place` is a catalog or namespace; `query` is the start of a subquery."""

_CLAUSES: dict[str, Expected] = {
    **dict.fromkeys("FROM JOIN INTO UPDATE TABLE VIEW SUMMARIZE DESCRIBE TRUNCATE".split(), "relation"),
    **dict.fromkeys("USE SCHEMA NAMESPACE DATABASE".split(), "place"),
    **dict.fromkeys("SELECT WHERE ON HAVING BY QUALIFY AND OR WHEN THEN ELSE CASE NOT RETURNING DISTINCT".split(),
                    "column"),
    **dict.fromkeys("UNION EXCEPT INTERSECT ALL WITH EXPLAIN".split(), "query"),
    **dict.fromkeys("LIMIT OFFSET VALUES FETCH".split(), "column"),
    "DETACH": "catalog",
    "SHOW": "show",
}  # fmt: skip
_LISTS = frozenset({"FROM", "JOIN"})
_ONCE: frozenset[Expected] = frozenset({"relation", "place", "catalog", "setting", "file", "show"})
"""A single name is expected, followed by other words."""
_PLACES_SHOWN = frozenset("TABLES VIEWS SCHEMAS NAMESPACES DATABASES".split())
_WITH_FROM = frozenset({"EXTRACT", "TRIM", "SUBSTRING", "OVERLAY", "POSITION"})


@dataclass(slots=True)
class _Clause:
    """The state within a pair of brackets: what the clause expects, and whether its name is still to come."""

    expects: Expected
    word: str = ""
    fresh: bool = True


def expected(before: Sequence[Lexeme], *, in_string: bool = False) -> Expected:
    """Returns what the next word is expected to be."""
    stack = [_Clause("statement")]
    for at, token in enumerate(before):
        _advance(stack, before, at, token)
    clause = stack[-1]
    if in_string:
        return "file" if _takes_files(before, clause) else "nothing"
    if before and before[-1].word == "AS":
        return "query" if any(token.word in ("CREATE", "PREPARE", "VIEW") for token in before) else "nothing"
    if clause.expects in _ONCE and not clause.fresh:
        return "keyword"
    if clause.expects == "column" and before and _ends_operand(before):
        return "keyword"
    return clause.expects


def _advance(stack: list[_Clause], before: Sequence[Lexeme], at: int, token: Lexeme) -> None:
    clause = stack[-1]
    if token.word == "(":
        stack.append(_within_brackets(before, at, clause))
        clause.fresh = False
    elif token.word == ")":
        if len(stack) > 1:
            stack.pop()
    elif token.word == ",":
        clause.fresh = clause.word in _LISTS or clause.expects == "column"
    elif token.kind == "word" and (expects := _begun(before, at, clause, len(stack) > 1)) is not None:
        stack[-1] = _Clause(expects, token.word)
    elif token.word != ".":
        clause.fresh = False
        if clause.expects in ("statement", "query"):
            stack[-1] = _Clause("keyword", token.word)


def _begun(before: Sequence[Lexeme], at: int, clause: _Clause, nested: bool) -> Expected | None:
    """Returns the clause that a word begins, or None if it continues the previous one."""
    word, first = before[at].word, before[0].word
    if at and before[at - 1].word == ".":
        return None
    if at == 0:
        return {"SET": "setting", "RESET": "setting", "DESC": "relation"}.get(word, _CLAUSES.get(word))  # type: ignore[return-value]
    if first == "SHOW" and not nested:
        return _shown(before, at, word)
    match word:
        case "FROM" if nested and clause.word in _WITH_FROM:
            return "column"
        case "SET":
            return "column"
        case "USING":
            return "relation" if first in ("MERGE", "DELETE") else "column"
        case "IN" if first == "USE":
            return "catalog"
        case "IN" | "FROM" if first == "SEARCH":
            return "place"
        case "ON" if first == "COMMENT":
            return "keyword"
        case "IF" | "EXISTS" | "OR" | "REPLACE" if clause.expects in ("relation", "place") and first != "SELECT":
            return clause.expects
        case "TABLE" | "VIEW" | "DISTINCT" | "DESCRIBE" | "UPDATE" | "TRUNCATE" | "SUMMARIZE" if clause.expects not in (
            "keyword", "statement", "query", "column"
        ):  # fmt: skip
            return clause.expects
        case _:
            return _CLAUSES.get(word)


def _shown(before: Sequence[Lexeme], at: int, word: str) -> Expected | None:
    if word in ("IN", "FROM"):
        return "place" if before[1].word in _PLACES_SHOWN else "relation"
    if before[1].word == "CREATE" and at > 1:
        return "place" if word in ("SCHEMA", "NAMESPACE", "DATABASE") else "relation"
    return "keyword" if at == 1 and word != "CREATE" else None


def _within_brackets(before: Sequence[Lexeme], at: int, clause: _Clause) -> _Clause:
    previous = before[at - 1] if at else None
    if previous is None or previous.word == "AS" or (clause.expects == "relation" and clause.fresh):
        return _Clause("query")
    if before[0].word == "CREATE" and previous.kind in ("word", "quoted") and previous.word not in KEYWORDS:
        return _Clause("keyword")
    return _Clause("column", previous.word)


def _takes_files(before: Sequence[Lexeme], clause: _Clause) -> bool:
    """Whether a string here names a file: in place of a table, in COPY and ATTACH, as argument of read_…()."""
    if not before:
        return False
    if clause.expects == "relation" and clause.fresh:
        return True
    last = before[-1].word
    if last in ("TO", "ATTACH") or (last == "FROM" and before[0].word == "COPY"):
        return True
    return last == "(" and len(before) > 1 and before[-2].word.startswith("READ_")


def _ends_operand(before: Sequence[Lexeme]) -> bool:
    """Whether an expression may end here, so that a keyword follows."""
    token = before[-1]
    if token.kind == "word":
        return token.word not in RESERVED or token.word in ("NULL", "TRUE", "FALSE", "END")
    if token.word == "*":  # all columns, or a multiplication
        return len(before) > 1 and before[-2].word in ("SELECT", "DISTINCT", ",", ".", "(")
    return token.kind in ("number", "string", "quoted", "parameter") or token.word in (")", "]")
