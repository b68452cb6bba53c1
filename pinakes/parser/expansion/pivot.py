"""PIVOT, as aggregates with FILTER for each value of a column.

PIVOT t ON v IN ('a', 'b') USING sum(x)
FROM t PIVOT (sum(x) FOR v IN ('a', 'b'))

    SELECT * EXCLUDE (x, v), sum(x) FILTER (WHERE v = 'a') AS "a", sum(x) FILTER (WHERE v = 'b') AS "b"
    FROM t GROUP BY ALL

Without IN the values are those of the column when the statement starts, which a query is asked for. They are compared
as texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from pinakes.core.names import quote, text_literal
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
from pinakes.parser.workarounds.constant_filters import AGGREGATES

MOST_VALUES = 1000
"""Columns that a PIVOT makes."""
_LONGEST = 1000
"""Bytes of a value that names a column, if a query finds the values."""
_ENDS = SET_OPERATORS | TAILS
_CLAUSES = _ENDS | {"USING", "GROUP"}
_AFTER = _ENDS | {"ON", "USING", "GROUP"}
_AGGREGATES = AGGREGATES | {"first", "last", "list", "product", "sum_distinct", "stddev_samp", "quantile", "any_value"}


class _Value(NamedTuple):
    """A value of IN: the condition of its rows, and the name of its column."""

    condition: str
    name: str


class _Aggregate(NamedTuple):
    expression: tuple[int, int]
    alias: str | None


def is_pivot_statement(tokens: Sequence[Token], at: int) -> bool:
    """PIVOT t ON …, not a table of that name."""
    return tokens[at].word in ("PIVOT", "PIVOT_WIDER") and starts_statement(tokens, at)


def is_pivot_in_from(tokens: Sequence[Token], at: int) -> bool:
    """FROM t PIVOT (sum(a) FOR b IN (…)), not a function or an alias with columns: AS pivot (a, b)."""
    return tokens[at].word == "PIVOT" and _is_in_from(tokens, at)


def _is_in_from(tokens: Sequence[Token], at: int) -> bool:
    before = tokens[at - 1] if at else None
    if (
        word(tokens, at + 1) != "("
        or before is None
        or not (before.kind in ("word", "quoted", "string") or before.word == ")")
    ):
        return False
    return before.word not in ("FROM", "JOIN", "AS", "SELECT", "TABLE") and any(
        token.word == "FOR" for token in tokens[at + 2 : closing(tokens, at + 1)]
    )


def pivot_statement(form: Form) -> Pieces:
    """PIVOT source [ON …] [USING …] [GROUP BY …] [ORDER BY …] [LIMIT …]"""
    source = form.at + 1, source_after(form, form.at + 1, _AFTER)
    at, pivots, aggregates, groups = source[1], list[list[_Value]](), list[_Aggregate](), (0, 0)
    used = list[str]()
    if form.word(at) == "ON":
        end = until(form.tokens, at + 1, _CLAUSES)
        for item in split(form.tokens, at + 1, end):
            pivots.append(_pivoted(form, item, source, used))
        at = end
    if form.word(at) == "USING":
        end = until(form.tokens, at + 1, _ENDS | {"GROUP"})
        aggregates = _aggregates(form, (at + 1, end), used)
        at = end
    if form.word(at) == "GROUP":
        if form.word(at + 1) != "BY":
            raise form.fault("expected GROUP BY", at)
        groups = at + 2, until(form.tokens, at + 2, _ENDS)
        at = groups[1]
    if not (pivots or aggregates or groups[0]):
        raise form.fault("a PIVOT statement has ON, USING or GROUP BY: PIVOT t ON v IN ('a', 'b') USING sum(x)")
    form.span = form.tokens[form.at].start, form.tokens[at - 1].end
    return _query(form, source, pivots, aggregates, groups, used)


def pivot_in_from(form: Form) -> Pieces:
    """source PIVOT (sum(x) [AS a], … FOR v IN (…) [w IN (…)] [GROUP BY k, …])"""
    closed = closing(form.tokens, form.at + 1)
    source = source_before(form, form.at), form.at
    at = until(form.tokens, form.at + 2, frozenset({"FOR"}))
    used, pivots, groups = list[str](), list[list[_Value]](), (0, 0)
    aggregates = _aggregates(form, (form.at + 2, at), used)
    at += 1
    while at < closed and form.word(at) != "GROUP":
        found = until(form.tokens, at, frozenset({"IN", "GROUP"}))
        if form.word(found) != "IN" or form.word(found + 1) != "(":
            raise form.fault("PIVOT needs a list of values: write FOR v IN ('a', 'b')", at)
        end = closing(form.tokens, found + 1)
        pivots.append(_pivoted(form, (at, end + 1), source, used))
        at = end + 1
    if at < closed:
        if form.word(at + 1) != "BY":
            raise form.fault("expected GROUP BY", at)
        groups = at + 2, closed
    form.span = form.tokens[source[0]].start, form.tokens[closed].end
    return ["(", *_query(form, source, pivots, aggregates, groups, used), ")"]


def _query(
    form: Form,
    source: tuple[int, int],
    pivots: Sequence[Sequence[_Value]],
    aggregates: Sequence[_Aggregate],
    groups: tuple[int, int],
    used: Sequence[str],
) -> Pieces:
    """Returns the query of a PIVOT."""
    if not source[0] < source[1]:
        raise form.fault("PIVOT needs a table or a subquery")
    count = 1
    for values in pivots:
        count *= len(values)
    if count * max(len(aggregates), 1) > MOST_VALUES:
        raise form.fault(
            f"this PIVOT would have more than {MOST_VALUES:,} columns: write ON v IN (…) with fewer values",
            unsupported=True,
        )
    pieces: Pieces = ["SELECT "]
    if groups[0]:
        pieces.append(form.range(groups))
    elif pivots:
        pieces.append(without(used))
    names, listed = dict[str, int](), list[_Aggregate | None](aggregates) or [None]
    for combined in product(*pivots):
        for aggregate in listed:
            if len(pieces) > 1:
                pieces.append(", ")
            name = "_".join(value.name for value in combined)
            alias = None if aggregate is None else aggregate.alias
            if aggregate is not None and (alias is not None or len(aggregates) > 1 or not combined):
                alias = _shown(form, aggregate.expression) if alias is None else alias
                name = f"{name}_{alias}" if combined else alias
            again = names.get(name.lower(), 0)
            names[name.lower()] = again + 1
            condition = " AND ".join(value.condition for value in combined)
            pieces += _filtered(form, aggregate, condition)
            pieces.append(f" AS {quote(f'{name}_{again}' if again else name)}")
    if len(pieces) == 1:
        raise form.fault("this PIVOT has no columns")
    pieces += [" FROM ", form.range(source)]
    if groups[0]:
        pieces += [" GROUP BY ", form.range(groups)]
    elif pivots:
        pieces.append(" GROUP BY ALL")
    return pieces


def _filtered(form: Form, aggregate: _Aggregate | None, condition: str) -> Pieces:
    """Returns an aggregate of the rows that meet a condition."""
    if aggregate is None:
        return [f"count(*) FILTER (WHERE {condition})" if condition else "count(*)"]
    start, end = aggregate.expression
    pieces, first, at = Pieces(), form.tokens[start].start, start
    while at < end:
        is_call = (
            form.tokens[at].kind == "word" and form.word(at + 1) == "(" and form.tokens[at].text.lower() in _AGGREGATES
        )
        if not is_call:
            at += 1
            continue
        closed = closing(form.tokens, at + 1)
        if form.word(closed + 1) == "WITHIN":
            closed = closing(form.tokens, closed + 3)
        if form.word(closed + 1) == "OVER":
            raise form.fault("PIVOT takes aggregates, not window functions", at, unsupported=True)
        if condition and form.word(closed + 1) == "FILTER" and form.word(closed + 3) == "WHERE":
            inside = form.tokens[closed + 4].start
            closed = closing(form.tokens, closed + 2)
            pieces += [(first, inside), f"{condition} AND (", (inside, form.tokens[closed].start), "))"]
        elif condition and form.word(closed + 1) == "FILTER":
            inside = form.tokens[closed + 3].start
            closed = closing(form.tokens, closed + 2)
            pieces += [(first, inside), f"WHERE {condition} AND (", (inside, form.tokens[closed].start), "))"]
        else:
            pieces += [(first, form.tokens[closed].end), f" FILTER (WHERE {condition})" if condition else ""]
        first, at = form.tokens[closed].end, closed + 1
    if not pieces:
        raise form.fault("PIVOT takes aggregates such as sum(x)", start, unsupported=True)
    return [*pieces, (first, form.tokens[end - 1].end)]


def _aggregates(form: Form, items: tuple[int, int], used: list[str]) -> list[_Aggregate]:
    found = list[_Aggregate]()
    for item in split(form.tokens, *items):
        if item[0] >= item[1]:
            raise form.fault("an aggregate is missing here: write sum(x)", item[0])
        expression, alias = with_alias(form, item)
        used += columns_in(form, expression)
        name = None
        if alias is not None:
            name = alias.text if alias.kind != "word" else alias.text.lower()
        found.append(_Aggregate(expression, name))
    return found


def _shown(form: Form, expression: tuple[int, int]) -> str:
    """Returns the name of an aggregate without an alias: sum(x), count_star()"""
    tokens = form.tokens[slice(*expression)]
    if [token.word for token in tokens] == ["COUNT", "(", "*", ")"]:
        return "count_star()"
    text = " ".join(form.text_of(expression).split())
    return tokens[0].text.lower() + text[len(tokens[0].text) :]


# --- values ------------------------------------------------------------------------------------------------------


def _pivoted(form: Form, item: tuple[int, int], source: tuple[int, int], used: list[str]) -> list[_Value]:
    """Parses `expression [IN (…)]`: the values and their columns."""
    start, end = item
    if start >= end:
        raise form.fault("a column is missing here", start)
    found = until(form.tokens, start, frozenset({"IN"}))
    if found >= end:
        used += columns_in(form, item)
        return _of_data(form, item, _values_of(form, item, source))
    column = start, found
    used += columns_in(form, column)
    if form.word(found + 1) != "(" or closing(form.tokens, found + 1) != end - 1:
        raise form.fault("PIVOT takes a list of values: write ON v IN ('a', 'b')", found, unsupported=True)
    if form.word(found + 2) in ("SELECT", "FROM", "WITH", "VALUES", "TABLE"):
        query = f'SELECT * FROM ({form.text_of((found + 2, end - 1))}) AS "$q"("$v")'
        return _of_data(form, column, query)
    columns = _columns(form, column)
    values = list[_Value]()
    for listed in split(form.tokens, found + 2, end - 1):
        values.append(_listed(form, columns, listed))
        if values[-1].name in [known.name for known in values[:-1]]:
            raise form.fault(f"the value {values[-1].name!r} stands twice in this list", listed[0])
    return values


def _columns(form: Form, column: tuple[int, int]) -> list[tuple[int, int]]:
    """Returns the columns of FOR (a, b) IN …, or the one."""
    start, end = column
    if form.word(start) == "(" and closing(form.tokens, start) == end - 1:
        return split(form.tokens, start + 1, end - 1)
    return [column]


def _listed(form: Form, columns: Sequence[tuple[int, int]], item: tuple[int, int]) -> _Value:
    """Parses a value of IN, or several in parentheses."""
    if item[0] >= item[1]:
        raise form.fault("a value is missing here", item[0])
    value, alias = with_alias(form, item)
    values = [value]
    if len(columns) > 1:
        if form.word(value[0]) != "(" or closing(form.tokens, value[0]) != value[1] - 1:
            raise form.fault(f"expected {len(columns)} values in parentheses", value[0])
        values = split(form.tokens, value[0] + 1, value[1] - 1)
    if len(values) != len(columns):
        raise form.fault(f"expected {len(columns)} values and found {len(values)}", value[0])
    conditions, names = list[str](), list[str]()
    for column, one in zip(columns, values, strict=True):
        text, name = _constant(form, one, is_named=alias is not None)
        left = form.text_of(column)
        conditions.append(f"({left}) IS NULL" if text == "NULL" else f"({left}) = {text}")
        names.append(name)
    return _Value(" AND ".join(conditions), folded(alias) if alias is not None else "_".join(names))


def _constant(form: Form, value: tuple[int, int], *, is_named: bool) -> tuple[str, str]:
    """Returns the text of a value of IN, and the name of its column."""
    tokens = form.tokens[slice(*value)]
    kinds = [token.kind for token in tokens]
    text = form.text_of(value)
    if kinds == ["string"]:
        return text, tokens[0].text
    if kinds == ["number"] or (kinds == ["symbol", "number"] and tokens[0].word == "-"):
        return text, text
    if len(tokens) == 1 and tokens[0].word in ("NULL", "TRUE", "FALSE"):
        return tokens[0].word, "NULL" if tokens[0].word == "NULL" else tokens[0].word.lower()
    if len(tokens) == 1 and kinds[0] in ("word", "quoted"):
        name = folded(tokens[0])
        return text_literal(name), name
    if len(tokens) == 2 and tokens[0].word in ("DATE", "TIMESTAMP", "TIME") and kinds[1] == "string":
        return text, tokens[1].text
    if len(tokens) == 3 and tokens[1].word == "::" and kinds[0] in ("string", "number"):
        return text, tokens[0].text
    if not tokens or not is_named:
        raise form.fault("this value of PIVOT needs a name: write IN (… AS name)", value[0], unsupported=True)
    return f"({text})", ""


def _values_of(form: Form, column: tuple[int, int], source: tuple[int, int]) -> str:
    """Returns the query for the values of a column."""
    return f'SELECT ({form.text_of(column)}) AS "$v" FROM {form.text_of(source)}'


def _of_data(form: Form, column: tuple[int, int], query: str) -> list[_Value]:
    """Returns the values that a query finds."""
    is_long = f'octet_length(CAST("$d"."$v" AS VARCHAR)) > {_LONGEST}'
    answer = form.ask_data(  # values that are too long are one row, the first
        f'{{}}SELECT CASE WHEN "$l" THEN repeat(\' \', {_LONGEST + 1}) ELSE CAST("$v" AS VARCHAR) END AS "$n" '
        f'FROM (SELECT DISTINCT CASE WHEN {is_long} THEN NULL ELSE "$d"."$v" END AS "$v", {is_long} AS "$l" '
        f'FROM ({query}) AS "$d" WHERE "$d"."$v" IS NOT NULL) AS "$t" ORDER BY "$l" DESC, "$v" LIMIT {MOST_VALUES + 1}',
        "ON v IN (…)",
    )
    if answer and len(answer[0]) > _LONGEST:
        raise form.fault(
            f"a value in this PIVOT has more than {_LONGEST:,} bytes: it can't name a column",
            column[0],
            unsupported=True,
        )
    if len(answer) > MOST_VALUES:
        raise form.fault(
            f"this PIVOT would have more than {MOST_VALUES:,} columns: write ON v IN (…) with fewer values",
            column[0],
            unsupported=True,
        )
    left = f"CAST(({form.text_of(column)}) AS VARCHAR)"
    return [_Value(f"{left} = {text_literal(value)}", value) for value in answer]
