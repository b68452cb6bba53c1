"""ASOF JOIN: the row of the right side that is nearest in time, or in another order.

FROM a ASOF [LEFT] JOIN b ON a.k = b.k AND a.t >= b.t

    FROM a [LEFT] JOIN nearest ON a.k = nearest.k AND a.t = nearest.t
    [LEFT] JOIN (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY b.k, b.t …) AS r FROM b) WHERE r = 1) AS b
    ON b.k = nearest.k AND b.t = nearest.found

`nearest` has the largest b.t for each pair of k and t on the left side: a running maximum over the pairs of both sides.
So each step takes time in proportion to its rows, but for sorting. The columns of `nearest` are excluded from *.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pinakes.core.names import quote
from pinakes.parser.expansion import READ_TWICE
from pinakes.parser.expansion.pieces import NOT_A_NAME, SET_OPERATORS, Form, Pieces, folded, split, until
from pinakes.parser.lexer import Token
from pinakes.parser.syntax.tokens import CLOSE, OPEN, closing, opening, word

_KINDS = frozenset({"JOIN", "LEFT", "INNER", "RIGHT", "FULL", "SEMI", "ANTI", "OUTER"})
_CLAUSES = frozenset({"WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "SELECT"})
_JOINS = frozenset(
    {"JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "ASOF", "SEMI", "ANTI", "POSITIONAL", "TABLESAMPLE"}
)
_ENDS = _CLAUSES | SET_OPERATORS | _JOINS | {","}
_UNREPEATABLE = frozenset(
    "LIMIT OFFSET FETCH SAMPLE TABLESAMPLE RANDOM RAND UUID GEN_RANDOM_UUID UUIDV4 UUIDV7".split()
)
_INEQUALITIES = frozenset({">=", ">", "<=", "<"})
_TURNED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
_COMPARISONS = _INEQUALITIES | {"=", "==", "IS"}
_NOT_AN_ALIAS = NOT_A_NAME | _ENDS
_FORM = "ASOF JOIN takes equalities and one of >=, >, <= and <, joined by AND: ON a.k = b.k AND a.t >= b.t"


class _Source(NamedTuple):
    """A table or subquery in FROM."""

    first: int
    end: int
    name: str | None
    """The name that qualifies its columns."""


class _Condition(NamedTuple):
    operator: str
    left: str
    right: str
    """The side of the joined table, as text."""
    qualifiers: frozenset[str]
    """Those on the left side."""


def is_asof(tokens: Sequence[Token], at: int) -> bool:
    """a ASOF [LEFT] JOIN b, not a table or an alias of that name."""
    if tokens[at].word != "ASOF" or at == 0 or word(tokens, at - 1) in ("AS", "FROM", ",", "(", "SELECT", "."):
        return False
    before = tokens[at - 1]
    joins = word(tokens, at + 1) == "JOIN" or (word(tokens, at + 1) in _KINDS and "JOIN" in _words(tokens, at + 2, 2))
    return joins and (before.kind in ("word", "quoted", "string") or before.word in CLOSE)


def asof_join(form: Form) -> Pieces:
    """left ASOF [INNER | LEFT] JOIN right ON … | USING (…)"""
    joined = until(form.tokens, form.at, frozenset({"JOIN"}))
    kind = [form.word(at) for at in range(form.at + 1, joined)]
    if kind not in ([], ["INNER"], ["LEFT"], ["LEFT", "OUTER"]):
        raise form.fault(
            f"ASOF {' '.join(kind)} JOIN is not supported: write ASOF JOIN or ASOF LEFT JOIN", unsupported=True
        )
    first = _start(form)
    left = _sources(form, first, form.at)
    right = _source(form, joined + 1)
    _check_repeatable(form, first, right.end)
    if right.name is None:
        raise form.fault("ASOF JOIN needs an alias for its right side: write (…) AS b", joined + 1, unsupported=True)
    if form.word(right.end) == "USING" and form.word(right.end + 1) == "(":
        end = closing(form.tokens, right.end + 1) + 1
        pieces, hidden = _using(form, (first, form.at), right, _names(form, right.end + 1), is_left="LEFT" in kind)
        is_using = True
    elif form.word(right.end) == "ON":
        end = _condition_end(form, right.end + 1)
        conditions = [_condition(form, item, right.name) for item in _conjuncts(form, right.end + 1, end)]
        pieces, hidden = _on(form, (first, form.at), left, right, conditions, is_left="LEFT" in kind)
        is_using = False
    else:
        raise form.fault(_FORM, right.end)
    return _selected(form, first, end, pieces, hidden, right.name if is_using else None)


# --- the join ----------------------------------------------------------------------------------------------------


def _on(
    form: Form,
    chain: tuple[int, int],
    left: Sequence[_Source],
    right: _Source,
    conditions: Sequence[_Condition],
    *,
    is_left: bool,
) -> tuple[Pieces, list[str]]:
    inequalities = [condition for condition in conditions if condition.operator in _INEQUALITIES]
    if len(inequalities) != 1:
        raise form.fault(_FORM, right.end)
    keys = [condition for condition in conditions if condition.operator not in _INEQUALITIES]
    order = inequalities[0]
    # The pairs are those of one table on the left side, if all columns are of that one.
    used = frozenset[str]().union(*(condition.qualifiers for condition in conditions))
    owners = [source for source in left if source.name in used]
    pairs = form.range((owners[0].first, owners[0].end) if len(used) == len(owners) == 1 else chain)
    nearest = _Nearest(form, [key.operator for key in keys], order.operator)
    pieces = nearest.joined(
        [*(key.left for key in keys), order.left], pairs, [*(key.right for key in keys), order.right], right, is_left
    )
    pieces += [
        *nearest.single([*(key.right for key in keys), order.right], right, [], ""),
        f" AS {quote(right.name or '')} ON ",
        nearest.found([*(key.right for key in keys), order.right]),
    ]
    return [form.range(chain), *pieces], nearest.columns


def _using(
    form: Form, chain: tuple[int, int], right: _Source, names: Sequence[str], *, is_left: bool
) -> tuple[Pieces, list[str]]:
    """USING (k, t): the last column is compared by >=. The left side's columns are those of the result."""
    nearest = _Nearest(form, ["="] * (len(names) - 1), ">=")
    shared = [quote(name) for name in names]
    pieces = nearest.joined(shared, form.range(chain), shared, right, is_left)
    own = [f"$b{form.number}_{at}" for at in range(len(names))]
    renamed = ", ".join(f"{name} AS {quote(mine)}" for name, mine in zip(shared, own, strict=True))
    pieces += [
        *nearest.single(shared, right, shared, f", {renamed}"),
        f" AS {quote(right.name or '')} ON ",
        nearest.found([f"{quote(right.name or '')}.{quote(mine)}" for mine in own]),
    ]
    return [form.range(chain), *pieces], [*nearest.columns, *own]


class _Nearest:
    """The query for the pairs of the left side with the value that is nearest on the right."""

    def __init__(self, form: Form, keys: Sequence[str], operator: str) -> None:
        self.form = form
        self.name = quote(f"$a{form.number}")
        self.keys = [f"$k{form.number}_{at}" for at in range(len(keys))]
        self.time, self.match, self.side = f"$t{form.number}", f"$m{form.number}", f"$s{form.number}"
        self.operator = operator
        self.equal = [*keys, "="]
        """The comparisons of the keys and of the time."""

    @property
    def columns(self) -> list[str]:
        return [*self.keys, self.time, self.match]

    def joined(
        self, ours: Sequence[str], pairs: tuple[int, int], theirs: Sequence[str], right: _Source, is_left: bool
    ) -> Pieces:
        names = [*map(quote, self.keys), quote(self.time)]
        listed, side, time = ", ".join(names), quote(self.side), quote(self.time)
        is_later = self.operator in (">=", ">")
        aggregate, order = ("max", "ASC") if is_later else ("min", "DESC")
        own = 1 if self.operator.endswith("=") else 0  # rows that compare equal come before it, or after
        part = f"PARTITION BY {', '.join(map(quote, self.keys))} " if self.keys else ""
        items = ", ".join(f"{text} AS {name}" for text, name in zip(ours, names, strict=True))
        join = "LEFT JOIN" if is_left else "JOIN"
        on = self._compared(ours, [*self.keys, self.time])
        return [
            f" {join} (SELECT DISTINCT {listed}, {quote(self.match)} FROM (SELECT {listed}, {side}, "
            f"{aggregate}(CASE WHEN {side} <> {own} THEN {time} END) OVER ({part}ORDER BY {time} {order}, {side} "
            f"ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {quote(self.match)} FROM (SELECT {items}, {own} AS "
            f"{side} FROM ",
            pairs,
            f" UNION ALL SELECT {', '.join(theirs)}, {1 - own} FROM ",
            self.form.range((right.first, right.end)),
            f") {READ_TWICE} WHERE {side} = {own} AND {quote(self.match)} IS NOT NULL) AS {self.name} ON {on} {join} ",
        ]

    def single(self, keys: Sequence[str], right: _Source, excluded: Sequence[str], items: str) -> Pieces:
        """Returns the query for one row of the right side for each of its keys."""
        number = quote(f"$r{self.form.number}")
        return [
            f"(SELECT * EXCLUDE ({', '.join([*excluded, number])}){items} FROM (SELECT *, row_number() OVER (PARTITION "
            f"BY {', '.join(keys)} ORDER BY {keys[-1]}) AS {number} FROM ",
            self.form.range((right.first, right.end)),
            f') AS "$w" WHERE {number} = 1)',
        ]

    def found(self, theirs: Sequence[str]) -> str:
        """Returns the condition that joins the right side."""
        return self._compared(theirs, [*self.keys, self.match])

    def _compared(self, texts: Sequence[str], names: Sequence[str]) -> str:
        pairs = zip(texts, self.equal, names, strict=True)
        return " AND ".join(f"{text} {operator} {self.name}.{quote(name)}" for text, operator, name in pairs)


# --- the SELECT list ---------------------------------------------------------------------------------------------


def _selected(form: Form, first: int, end: int, pieces: Pieces, hidden: Sequence[str], using: str | None) -> Pieces:
    """Excludes the hidden columns from the stars of the query."""
    tokens, before = form.tokens, first - 1
    while before >= 0 and tokens[before].word != "FROM":
        if tokens[before].word in CLOSE:
            before = opening(tokens, before)
        elif tokens[before].word in OPEN:
            raise form.fault("ASOF JOIN in parentheses is not supported: write it without them", unsupported=True)
        before -= 1
    items = before - 1
    while items >= 0 and tokens[items].word != "SELECT" and tokens[items].word not in OPEN:
        items = (opening(tokens, items) if tokens[items].word in CLOSE else items) - 1
    excluded = ", ".join(map(quote, hidden))
    if items >= 0 and tokens[items].word == "SELECT":
        form.span = tokens[items].start, tokens[end - 1].end
        listed = _items(form, (items + 1, before), excluded, using, first, end)
        return [
            (tokens[items].start, tokens[items].end),
            *listed,
            (tokens[before - 1].end, tokens[first].start),
            *pieces,
        ]
    selected = until(tokens, end, SET_OPERATORS | {"SELECT"})
    if form.word(selected) == "SELECT":
        stop = until(tokens, selected + 1, _CLAUSES | SET_OPERATORS)
        form.span = tokens[first].start, tokens[stop - 1].end
        listed = _items(form, (selected + 1, stop), excluded, using, first, end)
        return [*pieces, (tokens[end - 1].end, tokens[selected].end), *listed]
    form.span = tokens[before].start, tokens[end - 1].end
    _check_star(form, first, end)
    return [f"SELECT * EXCLUDE ({excluded}) ", (tokens[before].start, tokens[first].start), *pieces]


def _items(form: Form, items: tuple[int, int], excluded: str, using: str | None, first: int, end: int) -> Pieces:
    """Returns the SELECT list, from the end of SELECT to the end of its last item."""
    pieces, at = Pieces(), form.tokens[items[0] - 1].end
    start = items[0] + (form.word(items[0]) in ("DISTINCT", "ALL"))
    if form.word(start) == "ON" and form.word(start + 1) == "(":
        start = closing(form.tokens, start + 1) + 1
    for item in split(form.tokens, start, items[1]):
        words = [form.word(i) for i in range(*item)]
        if "COLUMNS" in words:
            raise form.fault(
                "COLUMNS(…) over an ASOF JOIN is not supported: name the columns", item[0], unsupported=True
            )
        if using is not None and words[1:3] == [".", "*"] and folded(form.tokens[item[0]]) == using:
            raise form.fault(
                "the star of the right side of ASOF JOIN … USING is not supported: write ON", item[0], unsupported=True
            )
        if words[:1] != ["*"]:
            continue
        _check_star(form, first, end)
        star = form.tokens[item[0]].end
        if words[1:2] in (["EXCLUDE"], ["EXCEPT"]):
            opened = item[0] + 2
            if form.word(opened) == "(":
                pieces += [(at, form.tokens[opened].end), f"{excluded}, "]
                at = form.tokens[opened].end
            else:
                pieces += [(at, form.tokens[opened - 1].end), " (", form.range((opened, opened + 1)), f", {excluded})"]
                at = form.tokens[opened].end
        else:
            pieces += [(at, star), f" EXCLUDE ({excluded})"]
            at = star
    return [*pieces, (at, form.tokens[items[1] - 1].end)]


def _check_star(form: Form, first: int, end: int) -> None:
    """Refuses * where another join shares columns: it is written out by its tables."""
    tokens = form.tokens
    stop = until(tokens, end, _CLAUSES | SET_OPERATORS)
    at, joined = first, 0
    while at < stop:
        if tokens[at].word in OPEN:
            at = closing(tokens, at)
        elif tokens[at].word == "JOIN":
            joined = at
        is_shared = (
            form.word(at) == "USING" and "ASOF" not in _words(tokens, joined - 3, 3) and form.word(at + 1) == "("
        )
        if is_shared or form.word(at) == "NATURAL":
            raise form.fault(
                "SELECT * over ASOF JOIN and another join with USING is not supported: name the columns",
                at,
                unsupported=True,
            )
        at += 1


# --- the text ----------------------------------------------------------------------------------------------------


def _words(tokens: Sequence[Token], at: int, count: int) -> list[str]:
    return [word(tokens, i) for i in range(at, at + count)]


def _check_repeatable(form: Form, first: int, end: int) -> None:
    """Refuses sides that may have other rows each time they are read."""
    with_query = any(token.word == "WITH" for token in form.tokens[:first])
    for at in range(0 if with_query else first, end):
        if form.word(at) in _UNREPEATABLE:
            raise form.fault(
                f"{form.word(at)} within a side of ASOF JOIN is not supported, since each side is read twice: store "
                "its rows in a table first",
                at,
                unsupported=True,
            )


def _start(form: Form) -> int:
    """Returns the index of the first token of the joins that end before ASOF."""
    at = form.at - 1
    while at >= 0:
        if form.tokens[at].word in CLOSE:
            at = opening(form.tokens, at)
        elif form.tokens[at].word in ("FROM", ",") or form.tokens[at].word in OPEN:
            return at + 1
        at -= 1
    raise form.fault("ASOF JOIN stands in FROM")


def _sources(form: Form, at: int, end: int) -> list[_Source]:
    found = [_source(form, at)]
    while (at := until(form.tokens, found[-1].end, frozenset({"JOIN"}))) < end:
        found.append(_source(form, at + 1))
    return found


def _source(form: Form, at: int) -> _Source:
    """Parses a table, a subquery or a call, with its alias."""
    first, name = at, None
    if form.word(at) == "(":
        at = closing(form.tokens, at) + 1
    else:
        while at < len(form.tokens) and form.tokens[at].kind in ("word", "quoted", "string"):
            name = folded(form.tokens[at]) if form.tokens[at].kind != "string" else None
            at += 1
            if form.word(at) != ".":
                break
            at += 1
        if form.word(at) == "(":
            at = closing(form.tokens, at) + 1
    if at == first:
        raise form.fault("expected a table", at)
    has_as = form.word(at) == "AS"
    after = form.tokens[at + has_as] if at + has_as < len(form.tokens) else None
    if after is not None and after.kind in ("word", "quoted") and (has_as or after.word not in _NOT_AN_ALIAS):
        name, at = folded(after), at + has_as + 1
        if form.word(at) == "(":
            at = closing(form.tokens, at) + 1
    return _Source(first, at, name)


def _names(form: Form, opened: int) -> list[str]:
    """Parses (a, b)."""
    found = list[str]()
    for start, end in split(form.tokens, opened + 1, closing(form.tokens, opened)):
        if end - start != 1 or form.tokens[start].kind not in ("word", "quoted"):
            raise form.fault("expected a column", start)
        found.append(folded(form.tokens[start]))
    if len(set(found)) < len(found):
        raise form.fault("a column may stand only once in USING", opened)
    return found


def _condition_end(form: Form, at: int) -> int:
    while True:
        at = until(form.tokens, at, _ENDS)
        if form.word(at) not in ("LEFT", "RIGHT") or form.word(at + 1) != "(":
            return at
        at += 1  # a function


def _conjuncts(form: Form, start: int, end: int) -> list[tuple[int, int]]:
    """Returns the operands of AND, without parentheses around them."""
    while form.word(start) == "(" and closing(form.tokens, start) == end - 1:
        start, end = start + 1, end - 1
    if until(form.tokens, start, frozenset({"OR", "BETWEEN"})) < end:
        raise form.fault(_FORM, start, unsupported=True)
    parts = split(form.tokens, start, end, "AND")
    if len(parts) == 1:
        return parts
    return [one for part in parts for one in _conjuncts(form, *part)]


def _condition(form: Form, item: tuple[int, int], right: str) -> _Condition:
    start, end = item
    at = until(form.tokens, start, _COMPARISONS)
    after, operator = at + 1, form.word(at)
    if operator == "IS" and _words(form.tokens, at, 4) == ["IS", "NOT", "DISTINCT", "FROM"]:
        after, operator = at + 4, "IS NOT DISTINCT FROM"
    is_compared = start < at and after < end and operator != "IS" and form.word(start) != "NOT"
    if not is_compared or until(form.tokens, after, _COMPARISONS) < end:
        raise form.fault(_FORM, start, unsupported=True)
    sides = [_qualifiers(form, (start, at)), _qualifiers(form, (after, end))]
    texts = [form.text_of((start, at)), form.text_of((after, end))]
    if sides[0] == {right}:
        sides, texts, operator = sides[::-1], texts[::-1], _TURNED.get(operator, operator)
    if sides[1] != {right} or right in sides[0] or not sides[0]:
        raise form.fault(
            "each comparison of ASOF JOIN … ON has columns of the left side on one side, and of the right on the other",
            start,
            unsupported=True,
        )
    return _Condition(operator, texts[0], texts[1], frozenset(sides[0]))


def _qualifiers(form: Form, item: tuple[int, int]) -> set[str]:
    """Returns the names of the tables whose columns an expression has."""
    found, at = set[str](), item[0]
    while at < item[1]:
        token = form.tokens[at]
        is_name = token.kind in ("word", "quoted") and token.word not in NOT_A_NAME
        if not is_name or form.word(at + 1) == "(" or form.word(at - 1) in ("AS", "::"):
            at += 1
            continue
        follows = form.tokens[at + 1] if at + 1 < item[1] else None
        if follows is not None and follows.kind == "string":
            at += 1  # DATE '2024-01-01'
            continue
        parts = [folded(token)]
        while form.word(at + 1) == "." and at + 2 < item[1]:
            at += 2
            parts.append(folded(form.tokens[at]))
        if len(parts) == 1:
            raise form.fault(
                f"ASOF JOIN … ON needs the table of each column: write the table before {parts[0]}, or USING",
                at,
                unsupported=True,
            )
        found.add(parts[-2])
        at += 1
    return found
