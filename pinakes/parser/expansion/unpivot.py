"""UNPIVOT: a row for each of some columns, with its name and its value.

UNPIVOT t ON a, b INTO NAME n VALUE x
FROM t UNPIVOT [INCLUDE NULLS] (x FOR n IN (a, b))

    SELECT * EXCLUDE (a, b, "$i"), CASE "$i" WHEN 1 THEN 'a' ELSE 'b' END AS n, CASE "$i" WHEN 1 THEN a ELSE b END AS x
    FROM t CROSS JOIN (VALUES (1), (2)) AS "$u"("$i") WHERE x IS NOT NULL
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pinakes.core.names import quote, text_literal
from pinakes.parser.expansion import NAME_OF
from pinakes.parser.expansion.pieces import (
    SET_OPERATORS,
    TAILS,
    Form,
    Pieces,
    columns_in,
    folded,
    source_after,
    source_before,
    split,
    starts_statement,
    until,
    with_alias,
    without,
)
from pinakes.parser.lexer import Token
from pinakes.parser.syntax.tokens import closing, word

_ENDS = SET_OPERATORS | TAILS
_NULLS = frozenset({"INCLUDE", "EXCLUDE"})


class _Entry(NamedTuple):
    """The values of a row, and the text that names it."""

    values: list[str | tuple[int, int]]
    """Spans of the text, or names."""
    name: str


def is_unpivot_statement(tokens: Sequence[Token], at: int) -> bool:
    """UNPIVOT t ON …, not a table of that name."""
    return tokens[at].word in ("UNPIVOT", "PIVOT_LONGER") and starts_statement(tokens, at)


def is_unpivot_in_from(tokens: Sequence[Token], at: int) -> bool:
    """FROM t UNPIVOT [INCLUDE NULLS] (x FOR n IN (a, b))"""
    before = tokens[at - 1] if at else None
    if tokens[at].word != "UNPIVOT" or before is None or before.word in ("FROM", "JOIN", "AS", "SELECT", "TABLE"):
        return False
    if not (before.kind in ("word", "quoted", "string") or before.word == ")"):
        return False
    opened = at + 3 if word(tokens, at + 1) in _NULLS and word(tokens, at + 2) == "NULLS" else at + 1
    return word(tokens, opened) == "(" and any(t.word == "FOR" for t in tokens[opened : closing(tokens, opened)])


def unpivot_statement(form: Form) -> Pieces:
    """UNPIVOT source ON a, b [INTO NAME n VALUE x] [ORDER BY …]"""
    source = form.at + 1, source_after(form, form.at + 1, _ENDS | {"ON", "INTO"})
    at = source[1]
    if form.word(at) != "ON":
        raise form.fault("UNPIVOT needs columns: write UNPIVOT t ON a, b", at)
    end = until(form.tokens, at + 1, _ENDS | {"INTO"})
    used = list[str]()
    entries = [entry for item in split(form.tokens, at + 1, end) for entry in _entries(form, item, source, used)]
    at, name, values = end, quote("name"), [quote("value")]
    if form.word(at) == "INTO":
        if form.word(at + 1) != "NAME" or form.word(at + 3) not in ("VALUE", "VALUES"):
            raise form.fault("expected INTO NAME n VALUE x", at)
        end = until(form.tokens, at + 4, _ENDS)
        name = _name(form, (at + 2, at + 3))
        values = [_name(form, item) for item in split(form.tokens, at + 4, end)]
        at = end
    elif entries and len(entries[0].values) > 1:
        raise form.fault("UNPIVOT of several columns needs their names: write INTO NAME n VALUE x, y", at)
    form.span = form.tokens[form.at].start, form.tokens[at - 1].end
    return _query(form, source, entries, name, values, used, keeps_nulls=False)


def unpivot_in_from(form: Form) -> Pieces:
    """source UNPIVOT [INCLUDE | EXCLUDE NULLS] (x FOR n IN (a, b AS 'c'))"""
    has_nulls = form.word(form.at + 2) == "NULLS"
    opened = form.at + (3 if has_nulls else 1)
    closed = closing(form.tokens, opened)
    source = source_before(form, form.at), form.at
    at = until(form.tokens, opened + 1, frozenset({"FOR"}))
    start, end = opened + 1, at
    if form.word(start) == "(" and closing(form.tokens, start) == end - 1:
        start, end = start + 1, end - 1
    values = [_name(form, item) for item in split(form.tokens, start, end)]
    if form.word(at + 2) != "IN" or form.word(at + 3) != "(" or closing(form.tokens, at + 3) != closed - 1:
        raise form.fault("expected FOR name IN (a, b)", at)
    used = list[str]()
    listed = split(form.tokens, at + 4, closed - 1)
    entries = [entry for item in listed for entry in _entries(form, item, source, used)]
    form.span = form.tokens[source[0]].start, form.tokens[closed].end
    name = _name(form, (at + 1, at + 2))
    keeps_nulls = has_nulls and form.word(form.at + 1) == "INCLUDE"
    return ["(", *_query(form, source, entries, name, values, used, keeps_nulls=keeps_nulls), ")"]


def _entries(form: Form, item: tuple[int, int], source: tuple[int, int], used: list[str]) -> list[_Entry]:
    """Parses a column, several in parentheses, or a star or COLUMNS(…), whose columns a query is asked for."""
    if form.word(item[0]) not in ("*", "COLUMNS") or item[0] >= item[1]:
        return [_entry(form, item, used)]
    inside, cast = form.text_of(item), ""
    if form.word(item[0]) == "COLUMNS":
        closed = closing(form.tokens, item[0] + 1) if form.word(item[0] + 1) == "(" else item[0]
        if closed < item[1] - 1 and form.word(closed + 1) != "::":
            raise form.fault(
                "COLUMNS(…) in an expression of UNPIVOT is not supported: name the columns", item[0], unsupported=True
            )
        cast = form.text_of((closed + 1, item[1]))
        starts = form.word(item[0] + 2) == "*"
        inside = form.text_of((item[0] + 2, closed) if starts else (item[0], closed + 1))
    answer = form.ask_data(f"DESCRIBE {{}}SELECT {inside} FROM {form.text_of(source)}", "UNPIVOT ON a, b")
    names = [quote(name) for name in answer]
    used += names
    return [_Entry([name + cast], text_literal(exact)) for name, exact in zip(names, answer, strict=True)]


def _entry(form: Form, item: tuple[int, int], used: list[str]) -> _Entry:
    """Parses a column, or several in parentheses, and its name."""
    if item[0] >= item[1]:
        raise form.fault("a column is missing here", item[0])
    value, alias = with_alias(form, item)
    values, names = [value], list[str]()
    if form.word(value[0]) == "(" and closing(form.tokens, value[0]) == value[1] - 1:
        values = split(form.tokens, value[0] + 1, value[1] - 1)
    for one in values:
        columns = columns_in(form, one)
        if len(set(columns)) != 1:
            raise form.fault("UNPIVOT takes expressions of one column each", one[0], unsupported=True)
        used += columns
        names.append(f"{quote(NAME_OF)}({columns[0]})")
    return _Entry([*values], text_literal(alias.text) if alias is not None else " || '_' || ".join(names))


def _name(form: Form, item: tuple[int, int]) -> str:
    if item[1] - item[0] != 1 or form.tokens[item[0]].kind not in ("word", "quoted", "string"):
        raise form.fault("expected a name", item[0])
    return quote(folded(form.tokens[item[0]]))


def _query(
    form: Form,
    source: tuple[int, int],
    entries: Sequence[_Entry],
    name: str,
    values: Sequence[str],
    used: Sequence[str],
    *,
    keeps_nulls: bool,
) -> Pieces:
    """Returns the query of an UNPIVOT."""
    if not source[0] < source[1]:
        raise form.fault("UNPIVOT needs a table or a subquery")
    for entry in entries:
        if len(entry.values) != len(values):
            raise form.fault(f"expected {len(values)} columns and found {len(entry.values)}")
    index, rows = quote(f"$i{form.number}"), ", ".join(f"({at})" for at in range(1, len(entries) + 1))
    pieces: Pieces = ["SELECT ", without([*used, index]), f", CASE {index}"]
    for at, entry in enumerate(entries, 1):
        pieces.append(f" WHEN {at} THEN {entry.name}")
    pieces.append(f" END AS {name}")
    for column, called in enumerate(values):
        pieces += [", ", *_value(form, entries, column, index), f" AS {called}"]
    pieces += [" FROM ", form.range(source), f" CROSS JOIN (VALUES {rows}) AS {quote(f'$u{form.number}')}({index})"]
    if not keeps_nulls:
        pieces.append(" WHERE ")
        for column in range(len(values)):
            pieces += [" AND " if column else "", *_value(form, entries, column, index), " IS NOT NULL"]
    return pieces


def _text(form: Form, value: str | tuple[int, int]) -> str | tuple[int, int]:
    return value if isinstance(value, str) else form.range(value)


def _value(form: Form, entries: Sequence[_Entry], column: int, index: str) -> Pieces:
    pieces: Pieces = [f"CASE {index}"]
    for at, entry in enumerate(entries, 1):
        pieces += [f" WHEN {at} THEN ", _text(form, entry.values[column])]
    return [*pieces, " END"]
