"""Limits that depend on the rows, as a condition of QUALIFY.

ORDER BY a LIMIT 10 PERCENT               →  QUALIFY row_number() OVER (ORDER BY a) <= floor(count(*) OVER () * 0.1)
ORDER BY a FETCH FIRST 3 ROWS WITH TIES   →  QUALIFY rank() OVER (ORDER BY a) <= 3
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.parser.expansion.pieces import SET_OPERATORS, Form, Pieces, folded, split, until, with_alias
from pinakes.parser.lexer import Token
from pinakes.parser.syntax.tokens import CLOSE, OPEN, opening, word

_AFTER = frozenset({"", ")", ";", "OFFSET", "ORDER"})
_DIRECTIONS = frozenset({"ASC", "DESC", "NULLS", "FIRST", "LAST"})
_MOST_PERCENT = 100


def is_row_limit(tokens: Sequence[Token], at: int) -> bool:
    """LIMIT 10 PERCENT, LIMIT 10%, FETCH FIRST [10] [PERCENT] ROWS ONLY | WITH TIES; `at` is the word of the unit"""
    kind = tokens[at].word
    if kind == "TIES":
        return word(tokens, at - 1) == "WITH" and word(tokens, at - 2) in ("ROW", "ROWS")
    if kind not in ("PERCENT", "%") or at < 2 or tokens[at - 1].kind not in ("number", "parameter"):
        return False
    if word(tokens, at - 2) == "LIMIT":
        return word(tokens, at + 1) in _AFTER and (at + 1 == len(tokens) or tokens[at + 1].word != "")
    fetches = word(tokens, at - 3) == "FETCH" and word(tokens, at - 2) in ("FIRST", "NEXT")
    return kind == "PERCENT" and fetches and word(tokens, at + 1) in ("ROW", "ROWS") and word(tokens, at + 2) == "ONLY"


def row_limit(form: Form) -> Pieces:
    tokens = form.tokens
    first = form.at
    while form.word(first) not in ("LIMIT", "FETCH"):
        first -= 1
        if first < 0 or form.word(first) in OPEN | CLOSE:
            raise form.fault("WITH TIES stands after FETCH FIRST n ROWS")
    is_fetch = form.word(first) == "FETCH"
    number = tokens[first + 1 + is_fetch]
    size = number.text if number.kind in ("number", "parameter") else "1"
    if size == "?" or (number.kind not in ("number", "parameter") and form.word(first + 2) not in ("ROW", "ROWS")):
        raise form.fault("expected a number of rows", first + 1, unsupported=True)
    is_percent = "PERCENT" in (form.word(form.at), form.word(form.at - 3)) or form.word(form.at) == "%"
    if is_percent and number.kind == "number" and float(size.replace("_", "")) > _MOST_PERCENT:
        raise form.fault(f"a limit has between 0 and {_MOST_PERCENT} percent", first + 1)
    last = form.at + (2 if is_fetch and form.word(form.at) == "PERCENT" else 0)
    select, order, offset = _clauses(form, first)
    offset = offset or _offset(form, last + 1)
    if order is None and form.word(form.at) == "TIES":
        raise form.fault("WITH TIES needs ORDER BY", first)
    end = order if order is not None else first
    if order is not None:
        stop = until(tokens, order, frozenset({"LIMIT", "OFFSET", "FETCH"}))
        keys = f"ORDER BY {', '.join(_keys(form, (order + 2, stop), select))}"
    else:
        keys = ""
    limit = f"floor(count(*) OVER () * {size} / 100)" if is_percent else size
    rank = "rank" if form.word(form.at) == "TIES" else "row_number"
    added = f" + {offset}" if offset else ""
    form.span = tokens[end - 1].end, tokens[last].end
    kept = (tokens[end - 1].end, tokens[first - 1].end)
    return [f" QUALIFY {rank}() OVER ({keys}) <= {limit}{added}", kept]


def _clauses(form: Form, at: int) -> tuple[int | None, int | None, str]:
    """Returns the indexes of SELECT and ORDER in the query that ends at `at`, and the OFFSET before it."""
    select, order, offset = None, None, ""
    at -= 1
    while at >= 0 and form.word(at) not in OPEN:
        text = form.word(at)
        if text == "ORDER" and order is None and form.word(at + 1) == "BY":
            order = at
        elif text == "OFFSET":
            offset = _offset(form, at)
        elif text in SET_OPERATORS or text == "QUALIFY":
            raise form.fault(
                f"this limit is not supported in a query with {text}: write SELECT * FROM (…) AS t around it",
                unsupported=True,
            )
        elif text == "SELECT" and select is None:
            if form.word(at + 1) == "DISTINCT":
                raise form.fault(
                    "this limit is not supported with SELECT DISTINCT: write SELECT * FROM (…) AS t around it",
                    unsupported=True,
                )
            select = at
        at = (opening(form.tokens, at) if text in CLOSE else at) - 1
    if select is None and at + 1 < len(form.tokens) and form.word(at + 1) in ("VALUES", "TABLE"):
        raise form.fault("this limit is not supported here: write SELECT * FROM (…) AS t around it", unsupported=True)
    return select, order, offset


def _offset(form: Form, at: int) -> str:
    """Parses OFFSET n, if it is there."""
    if form.word(at) != "OFFSET":
        return ""
    token = form.tokens[at + 1] if at + 1 < len(form.tokens) else None
    if token is None or token.kind not in ("number", "parameter"):
        raise form.fault("this limit is only supported with a number after OFFSET", at, unsupported=True)
    return token.text


def _keys(form: Form, order: tuple[int, int], select: int | None) -> list[str]:
    """Returns the keys of ORDER BY, with the expressions of the SELECT list that they name."""
    aliases, items = dict[str, str](), list[str]()
    if select is not None:
        stop = until(form.tokens, select + 1, SET_OPERATORS | {"FROM", "WHERE", "ORDER", "LIMIT", "FETCH"})
        for item in split(form.tokens, select + 1, stop):
            if item[0] >= item[1]:
                continue
            value, alias = with_alias(form, item)
            items.append(form.text_of(value))
            if alias is not None:
                aliases[folded(alias)] = form.text_of(value)
    found = list[str]()
    for start, end in split(form.tokens, *order):
        last = end
        while last - 1 > start and form.word(last - 1) in _DIRECTIONS:
            last -= 1
        direction = f" {form.text_of((last, end))}" if last < end else ""
        token = form.tokens[start]
        if last - start == 1 and token.word == "ALL":
            raise form.fault("this limit is not supported with ORDER BY ALL: name the columns", start, unsupported=True)
        text = form.text_of((start, last))
        if last - start == 1 and token.kind == "number":
            at = int(token.text) if token.text.isdecimal() else 0
            if not 0 < at <= len(items) or any(item.endswith("*") for item in items):
                raise form.fault("this limit needs the names of the columns in ORDER BY", start, unsupported=True)
            text = f"({items[at - 1]})"
        elif last - start == 1 and token.kind in ("word", "quoted") and folded(token) in aliases:
            text = f"({aliases[folded(token)]})"
        elif any(folded(t) in aliases for t in form.tokens[start:last] if t.kind in ("word", "quoted")):
            raise form.fault(
                "this limit is not supported with an expression over an alias in ORDER BY: write it in a subquery",
                start,
                unsupported=True,
            )
        if "OVER" in text.upper().replace("(", " ").split():
            raise form.fault(
                "this limit is not supported with a window function in ORDER BY: write SELECT * FROM (…) around it",
                start,
                unsupported=True,
            )
        found.append(text + direction)
    return found
