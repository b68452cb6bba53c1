"""Refuses clauses that DataFusion parses and ignores, or answers differently from SQL, by their tokens.

WITH ROLLUP would return no totals, without an error. `wrong_results.py` refuses forms
that require a tree; here sqlglot need not be able to parse the rest of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.syntax.ordinality import is_numbered

_NOT_A_NAME = frozenset(
    "ALL AND AS BETWEEN BY CASE DISTINCT ELSE FROM HAVING ILIKE IN IS JOIN LIKE LIMIT NOT ON OR SELECT SET THEN UPDATE "
    "WHEN WHERE WITH".split()
)
"""Words that are followed by a name, not by a clause."""
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_MOST_GROUPING = 31
_FIELDS = frozenset(
    word + ending
    for word in ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "MILLISECOND", "MICROSECOND", "DECADE", "CENTURY")
    for ending in ("", "S")
)
_NO_FIELDS = frozenset({"QUARTERS", "DECADES", "CENTURIES", "MILLENNIA", "MINS", "SECS", "HRS"})
_WINDOW_CLAUSES = frozenset({"PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"})
_ENDS = frozenset({"", ")", ";"})
_OF_NAMES = _ENDS | {",", ".", "FROM", "AS"}
"""Tokens that follow a word which is a name, not the start of a clause."""


def refuse_unsupported(tokens: Sequence[Token], words: set[str]) -> None:
    """Raises a Fault at the first clause that DataFusion would ignore."""
    has_clauses = not words.isdisjoint(_CLAUSES)
    for at, token in enumerate(tokens):
        if token.kind == "number" and at + 1 < len(tokens):
            follows = tokens[at + 1]
            if follows.start == token.end and follows.kind in ("word", "number") and follows.text[0] != ".":
                # 1e5_0 and 0b11 would be a number and an alias, and 0xFF a binary value.
                raise Fault(f"trailing junk after the number {token.text}: write it in decimal digits", follows.start)
        elif has_clauses and token.word in _CLAUSES:
            is_clause, message = _CLAUSES[token.word]
            if is_clause(tokens, at):
                raise Fault(message, token.start, unsupported=True)


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].word if 0 <= at < len(tokens) else ""


def _follows_a_name(tokens: Sequence[Token], at: int) -> bool:
    before = tokens[at - 1] if at else None
    is_name = before is not None and (before.kind in ("word", "quoted", "string") or before.word == ")")
    return is_name and _word(tokens, at - 1) not in _NOT_A_NAME


def _is_prewhere(tokens: Sequence[Token], at: int) -> bool:
    return _follows_a_name(tokens, at) and _word(tokens, at + 1) not in _OF_NAMES and at + 1 < len(tokens)


def _is_totals(tokens: Sequence[Token], at: int) -> bool:
    """GROUP BY a WITH ROLLUP, and no subquery of that name: WITH rollup AS (…)."""
    return _word(tokens, at - 1) == "WITH" and _word(tokens, at + 1) not in ("AS", "(")


def _is_ordinality(tokens: Sequence[Token], at: int) -> bool:
    """f(…) WITH ORDINALITY [AS t(…)], and no subquery of that name: WITH ordinality AS (…)."""
    if _word(tokens, at - 1) != "WITH" or _word(tokens, at + 1) == "(" or is_numbered(tokens, at):
        return False
    return _word(tokens, at + 1) != "AS" or _word(tokens, at + 2) not in ("(", "MATERIALIZED", "NOT")


def _is_kind_of_join(tokens: Sequence[Token], at: int) -> bool:
    """a POSITIONAL JOIN b: DataFusion reads the word as an alias, and makes a cross join."""
    return _word(tokens, at + 1) == "JOIN" and _word(tokens, at - 1) != "AS" and _follows_a_name(tokens, at)


def _is_for_columns(tokens: Sequence[Token], at: int) -> bool:
    """SELECT * ILIKE 'a%', not a * ilike."""
    after = tokens[at + 1].kind if at + 1 < len(tokens) else "end"
    return (
        _word(tokens, at - 1) == "*" and _word(tokens, at - 2) in ("SELECT", "DISTINCT", ",", ".") and after == "string"
    )


def _is_of_all_columns(tokens: Sequence[Token], at: int) -> bool:
    """count(DISTINCT *), count(DISTINCT t.*)"""
    if (_word(tokens, at - 2), _word(tokens, at - 1)) != ("COUNT", "("):
        return False
    named = at + 2 if _word(tokens, at + 2) == "." else at
    return _word(tokens, named + 1) == "*"


def _is_hierarchy(tokens: Sequence[Token], at: int) -> bool:
    return (_word(tokens, at), _word(tokens, at + 1)) in (("CONNECT", "BY"), ("START", "WITH"))


def _is_lock(tokens: Sequence[Token], at: int) -> bool:
    """FOR UPDATE, FOR SHARE; not substring(a FROM 1 FOR share)."""
    after = _word(tokens, at + 2)
    return _word(tokens, at + 1) == "UPDATE" or (
        _word(tokens, at + 1) == "SHARE" and after in ("", ";", "OF", "NOWAIT", "SKIP")
    )


def _is_branch(tokens: Sequence[Token], at: int) -> bool:
    """t@main, without a blank: DataFusion reads it as an alias."""
    if not 0 < at < len(tokens) - 1:
        return False
    before, here, after = tokens[at - 1 : at + 2]
    names = before.kind in ("word", "quoted") and after.kind in ("word", "quoted", "number")
    return names and before.end == here.start and here.end == after.start


def _is_of_another_window(tokens: Sequence[Token], at: int) -> bool:
    """OVER (w ORDER BY a): DataFusion ignores the definition of w."""
    follows_a_call = _word(tokens, at - 1) in (")", "NULLS")
    return follows_a_call and _word(tokens, at + 1) == "(" and _starts_with_a_window(tokens, at + 2)


def _defines_by_another_window(tokens: Sequence[Token], at: int) -> bool:
    """WINDOW v AS (PARTITION BY a), w AS (v ORDER BY b), or w AS v."""
    at += 1
    while _is_name(tokens, at) and _word(tokens, at + 1) == "AS":
        if _is_name(tokens, at + 2) or _starts_with_a_window(tokens, at + 3):
            return True
        at, depth = at + 3, 1
        while depth and at < len(tokens):
            depth += (_word(tokens, at) == "(") - (_word(tokens, at) == ")")
            at += 1
        if _word(tokens, at) != ",":
            return False
        at += 1
    return False


def _is_fraction_of_a_field(tokens: Sequence[Token], at: int) -> bool:
    """INTERVAL '1.5' MINUTE: minutes without a fraction in PostgreSQL, ninety seconds in DataFusion. INTERVAL 3
    DECADES: three seconds in a column named decades.
    """
    if at + 2 >= len(tokens) or tokens[at + 1].kind not in ("string", "number"):
        return False
    if _word(tokens, at + 2) in _NO_FIELDS:
        return True
    if _word(tokens, at + 2) not in _FIELDS:
        return False
    return re.fullmatch(r"\s*[-+]?\d*\.\d*[1-9]\d*\s*", tokens[at + 1].text) is not None


def _is_power_or_xor(tokens: Sequence[Token], at: int) -> bool:
    """2 ^ 3: a power in PostgreSQL, XOR in DataFusion and Spark. ^@ is another operator."""
    follows = tokens[at + 1] if at + 1 < len(tokens) else None
    return follows is not None and not (follows.word == "@" and follows.start == tokens[at].end)


def _is_of_too_many(tokens: Sequence[Token], at: int) -> bool:
    """grouping(a, b, …): DataFusion has 32 bits for them."""
    depth, arguments = 0, 1
    for token in tokens[at + 1 :]:
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        arguments += depth == 1 and token.word == ","
        if depth == 0:
            break
    return arguments > _MOST_GROUPING


def _repeats_a_column(tokens: Sequence[Token], at: int) -> bool:
    """JOIN … USING (a, a)"""
    columns = list[str]()
    for token in tokens[at + 2 :] if _word(tokens, at + 1) == "(" else ():
        if token.kind in ("word", "quoted"):
            columns.append(token.text if token.kind == "quoted" else token.text.lower())
        elif token.word != ",":
            break
    return len(set(columns)) < len(columns)


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].kind in ("word", "quoted")


def _starts_with_a_window(tokens: Sequence[Token], at: int) -> bool:
    return _is_name(tokens, at) and (tokens[at].kind == "quoted" or _word(tokens, at) not in _WINDOW_CLAUSES)


_HIERARCHY = "START WITH and CONNECT BY are not supported: write WITH RECURSIVE … UNION ALL …"
_TOTALS = "GROUP BY … WITH {0} is not supported: write GROUP BY {1}"
_OF_WINDOW = "a window that builds on another one is not supported: write PARTITION BY and ORDER BY out in it"

_CLAUSES: dict[str, tuple[Callable[[Sequence[Token], int], bool], str]] = {
    "POSITIONAL": (
        _is_kind_of_join,
        "POSITIONAL JOIN is not supported: number the rows of both sides with row_number() OVER (ORDER BY …) and join "
        "by that",
    ),
    "PREWHERE": (_is_prewhere, "PREWHERE is not supported: write WHERE"),
    "CONNECT": (_is_hierarchy, _HIERARCHY),
    "START": (_is_hierarchy, _HIERARCHY),
    "ROLLUP": (_is_totals, _TOTALS.format("ROLLUP", "ROLLUP (…)")),
    "CUBE": (_is_totals, _TOTALS.format("CUBE", "CUBE (…)")),
    "TOTALS": (_is_totals, _TOTALS.format("TOTALS", "GROUPING SETS ((…), ())")),
    "ORDINALITY": (
        _is_ordinality,
        "WITH ORDINALITY is only supported for FROM unnest([…]) WITH ORDINALITY AS t(x, n): write row_number() OVER ()",
    ),
    "OVER": (_is_of_another_window, _OF_WINDOW),
    "WINDOW": (_defines_by_another_window, _OF_WINDOW),
    "INTERVAL": (
        _is_fraction_of_a_field,
        "this INTERVAL is not supported: write its unit into the text, INTERVAL '1.5 minutes'",
    ),
    "GROUPING": (_is_of_too_many, f"grouping() takes at most {_MOST_GROUPING} columns: call it several times"),
    "ILIKE": (_is_for_columns, "* ILIKE is not supported: name the columns, or write * EXCLUDE (…)"),
    "DISTINCT": (
        _is_of_all_columns,
        "count(DISTINCT *) is not supported: write SELECT count(*) FROM (SELECT DISTINCT * FROM …)",
    ),
    "USING": (_repeats_a_column, "a column may stand only once in USING"),
    "FOR": (_is_lock, "FOR UPDATE and FOR SHARE are not supported: a query locks nothing"),
    "^": (_is_power_or_xor, "a ^ b is not supported: write power(a, b), or (a | b) - (a & b) for XOR"),
    "@": (_is_branch, "name@version is not supported: write FOR VERSION AS OF 'main' after the table"),
}
