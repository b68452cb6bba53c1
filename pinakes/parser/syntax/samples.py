"""Samples of the rows of a table.

FROM t AS x TABLESAMPLE BERNOULLI (10)   →  FROM (FROM t AS x SELECT * WHERE random() < 0.1)     a percentage
FROM t USING SAMPLE 5 ROWS               →  FROM (FROM t SELECT * ORDER BY random() LIMIT 5)

A subquery without an alias keeps the qualifiers of its columns. SYSTEM samples single rows too. A percentage without a
method is that of single rows, as BERNOULLI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair
from pinakes.parser.syntax.tokens import inserted, opening, replaced, word

_METHODS = frozenset({"BERNOULLI", "SYSTEM", "RESERVOIR"})
_UNITS = {"PERCENT": "percent", "%": "percent", "ROWS": "rows", "ROW": "rows"}
_STARTS = frozenset({"FROM", ",", "JOIN", "LATERAL", "("})
_NOT_AN_ALIAS = frozenset(
    "ALL AND AS BETWEEN BY CASE DISTINCT ELSE FROM HAVING ILIKE IN IS JOIN LIKE LIMIT NOT ON OR SELECT SET THEN UPDATE "
    "WHEN WHERE WITH".split()
)
_NO_SAMPLE = (
    "this sample is not supported: write TABLESAMPLE BERNOULLI (10), USING SAMPLE 10 ROWS, or WHERE random() < 0.1"
)


class _Sample(NamedTuple):
    number: str
    is_rows: bool
    last: int
    """The index of its last token."""

    @property
    def clause(self) -> str:
        if self.is_rows:
            return f" SELECT * ORDER BY random() LIMIT {self.number})"
        return f" SELECT * WHERE random() < {self.number} / 100.0)"


def samples(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Yields the rewrites of all samples."""
    for at, token in enumerate(tokens):
        if token.word == "TABLESAMPLE" and _follows_a_source(tokens, at):
            found = _sample(tokens, at, at + 1, is_standard=True)
            first = _source(tokens, at)
        elif token.word == "USING" and word(tokens, at + 1) == "SAMPLE" and _is_sized(tokens, at + 2):
            found = _sample(tokens, at, at + 2, is_standard=False)
            first = _from(tokens, at)
        elif token.word == "SAMPLE" and word(tokens, at - 1) != "USING" and _follows_a_source(tokens, at):
            if not _is_sized(tokens, at + 1):
                continue
            raise Fault(_NO_SAMPLE, token.start, unsupported=True)
        else:
            continue
        yield inserted(tokens[first].start, "(FROM ")
        yield replaced(token, tokens[found.last], found.clause)


def _follows_a_source(tokens: Sequence[Token], at: int) -> bool:
    before = tokens[at - 1] if at else None
    is_name = before is not None and (before.kind in ("word", "quoted", "string") or before.word == ")")
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    is_clause = after is not None and (
        after.word in _METHODS | {"(", "BLOCK", "ROW"} or after.kind in ("number", "parameter")
    )
    return is_name and is_clause and word(tokens, at - 1) not in _NOT_AN_ALIAS


def _is_sized(tokens: Sequence[Token], at: int) -> bool:
    size = next((t for t in tokens[at:] if t.word not in _METHODS | {"(", "ROW", "BLOCK"}), None)
    return size is not None and size.kind in ("number", "parameter")


def _sample(tokens: Sequence[Token], start: int, at: int, *, is_standard: bool) -> _Sample:
    """Parses [method] (size [unit]), or size unit [(method)], which DuckDB also has."""
    refused = Fault(_NO_SAMPLE, tokens[start].start, unsupported=True)
    method = word(tokens, at) if word(tokens, at) in _METHODS else ""
    at += bool(method)
    is_bracketed = word(tokens, at) == "("
    at += is_bracketed
    if at >= len(tokens) or tokens[at].kind != "number":
        raise refused
    size = tokens[at]
    unit = _UNITS.get(word(tokens, at + 1), "")
    at += bool(unit)
    if is_bracketed:
        at += 1
        if word(tokens, at) != ")":
            raise refused
    if word(tokens, at + 1) == "(" and not method:
        if word(tokens, at + 2) not in _METHODS or word(tokens, at + 3) != ")":
            raise refused
        method, at = word(tokens, at + 2), at + 3
    if word(tokens, at + 1) in ("REPEATABLE", "SEED"):
        raise Fault(
            "a sample with a seed is not supported: it would differ between runs. Leave REPEATABLE out",
            tokens[at + 1].start,
            unsupported=True,
        )
    # A number without a method and a unit is one of rows in DuckDB, and a percentage elsewhere.
    is_rows = unit == "rows" or (not unit and not method)
    if not unit and (method == "RESERVOIR" or (is_standard and not method)):
        raise refused
    if is_rows and (method in ("BERNOULLI", "SYSTEM") or not size.text.replace("_", "").isdigit()):
        raise refused
    if not is_rows and float(size.text.replace("_", "")) > 100:
        raise Fault("a sample has between 0 and 100 percent", size.start)
    return _Sample(size.text.replace("_", ""), is_rows, at)


def _source(tokens: Sequence[Token], at: int) -> int:
    """Returns the index of the first token of the source before a TABLESAMPLE."""
    at -= 1
    while at > 0:
        if tokens[at].word in (")", "]"):
            at = opening(tokens, at)
        if word(tokens, at - 1) in _STARTS:
            return at - (word(tokens, at - 1) == "LATERAL")
        at -= 1
    raise Fault(_NO_SAMPLE, tokens[at].start, unsupported=True)


def _from(tokens: Sequence[Token], at: int) -> int:
    """Returns the index of the first token after the FROM of the query that a USING SAMPLE ends. A sample is taken of
    the rows of FROM, before WHERE is applied.
    """
    end = at
    at -= 1
    while at >= 0:
        text = tokens[at].word
        if text in (")", "]", "}"):
            at = opening(tokens, at) - 1
            continue
        if text == "FROM":
            return at + 1
        if text in ("WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "(", "SELECT"):
            break
        at -= 1
    raise Fault(
        "USING SAMPLE is only supported right after FROM: write it there, or sample a subquery",
        tokens[end].start,
        unsupported=True,
    )
