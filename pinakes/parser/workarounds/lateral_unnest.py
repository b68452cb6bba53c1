"""DataFusion 55 plans UNNEST over the columns of earlier tables in FROM, but can't run the plan. In the SELECT list
it can. A subquery without an alias keeps the qualifiers of its columns, so the rest of the text is unchanged:

    FROM t CROSS JOIN UNNEST(t.a) AS u(x) WHERE u.x > 1
    FROM (FROM t SELECT *, unnest(t.a) AS x) WHERE x > 1

LEFT JOIN … ON true keeps rows whose array is empty or NULL: unnest(coalesce(nullif(t.a, []), [NULL])).

Delete when tests/workarounds/test_lateral_unnest.py reports that it is fixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import expressions as exp

from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair, Span

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_ENDS = frozenset(
    {"WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "SELECT", "SET", "WHEN"}
    | {"UNION", "EXCEPT", "INTERSECT"}
)
_JOINS = frozenset({",", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL"})
_NOT_COLUMNS = frozenset({"NULL", "TRUE", "FALSE", "ARRAY"})
_NOTHING = Token("end", "", "", -1, -1)


@dataclass(slots=True)
class _Clause:
    """The current FROM clause: the index of its first source, and its join operators so far."""

    start: int | None = None
    words: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Unnest:
    """A correlated UNNEST in FROM: indexes of its tokens."""

    start: int
    """The first source of its FROM."""
    joined: int
    """The join operator before it."""
    opened: int
    closed: int
    end: int
    """The token after its alias."""
    names: tuple[str, ...]
    alias: Token | None
    side: str


def lateral_unnests(tokens: Sequence[Token], root: exp.Expr) -> list[Repair]:
    """Returns the rewrites of the text. `root` is the tree of the tokens."""
    found = list(_unnests(tokens))
    repairs = [repair for unnest in found for repair in _moved(tokens, unnest)]
    places = {unnest.alias.start: unnest for unnest in found if unnest.alias is not None}
    return repairs + [repair for column in root.find_all(exp.Column) for repair in _unqualified(column, places)]


def _unnests(tokens: Sequence[Token]) -> Iterator[_Unnest]:
    clauses = [_Clause()]
    for at, token in enumerate(tokens):
        word, clause = token.word, clauses[-1]
        if word in _OPEN:
            clauses.append(_Clause())
        elif word in _CLOSE:
            clauses.pop()
        elif word == "FROM" and _word(tokens, at - 1) != "DISTINCT":
            clauses[-1] = _Clause(at + 1)
        elif word in _ENDS:
            clauses[-1] = _Clause()
        elif clause.start is not None and word in _JOINS and _word(tokens, at + 1) != "(":
            clause.words.add(word)
        elif clause.start is not None and word == "UNNEST" and _word(tokens, at + 1) == "(":
            if at == clause.start and len(clauses) > 1:
                _refuse_outside(tokens, at)
            unnest = _read(tokens, at, clause.start)
            if unnest is not None:
                _check(tokens, unnest, clause)
                yield unnest


def _read(tokens: Sequence[Token], at: int, start: int) -> _Unnest | None:
    """Parses an UNNEST; None if it is the first source, or is not correlated."""
    closed = _closing(tokens, at + 1)
    joined = at - (_word(tokens, at - 1) == "LATERAL") - 1
    if joined < start or not any(_is_column(tokens, i) for i in range(at + 2, closed)):
        return None
    side = ""
    if _word(tokens, joined) == "JOIN":
        while _word(tokens, joined - 1) in ("INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER"):
            joined -= 1
            side = side if _word(tokens, joined) == "OUTER" else _word(tokens, joined)
    elif _word(tokens, joined) != ",":
        return None
    alias, names, end = _alias(tokens, closed + 1)
    arguments = len(list(_commas(tokens, at + 1, closed))) + 1
    if arguments > 1 and len(names) < arguments:
        message = "UNNEST of several arrays needs a name for each: UNNEST(a, b) AS u(x, y)"
        raise Fault(message, tokens[at].start, unsupported=True)
    if len(names) > arguments:
        message = f"UNNEST of {arguments} arrays can't have {len(names)} columns"
        raise Fault(message, tokens[at].start, unsupported=True)
    return _Unnest(start, joined, at + 1, closed, end, names, alias, side)


def _refuse_outside(tokens: Sequence[Token], at: int) -> None:
    """Refuses an UNNEST as the first source of a subquery if it refers to an outer column."""
    if any(_is_column(tokens, i) for i in range(at + 2, _closing(tokens, at + 1))):
        raise Fault(
            "UNNEST of a column of the query around a subquery is not supported: write FROM t CROSS JOIN UNNEST(t.a) "
            "AS u(x), with GROUP BY to aggregate, or a function of arrays such as array_has",
            tokens[at].start,
            unsupported=True,
        )


def _check(tokens: Sequence[Token], unnest: _Unnest, clause: _Clause) -> None:
    place = tokens[unnest.joined].start
    if unnest.side in ("RIGHT", "FULL"):
        raise Fault(
            f"{unnest.side} JOIN UNNEST is not supported: write CROSS JOIN or LEFT JOIN", place, unsupported=True
        )
    if "," not in clause.words:
        return
    depth = 0
    for token in tokens[unnest.end :]:
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        if depth < 0 or (depth == 0 and token.word in _ENDS):
            return
        if depth == 0 and token.word in ("RIGHT", "FULL"):
            message = (
                f"{token.word} JOIN after sources that commas join, and UNNEST, is not supported: write CROSS JOIN"
            )
            raise Fault(message, token.start, unsupported=True)


def _moved(tokens: Sequence[Token], unnest: _Unnest) -> Iterator[Repair]:
    """Yields the rewrites of one UNNEST, up to its alias and its ON."""
    before, after = ("unnest(coalesce(nullif(", ", []), [NULL]))") if unnest.side == "LEFT" else ("unnest(", ")")
    start, opened = tokens[unnest.start].start, tokens[unnest.opened]
    yield Repair(Span(start, start), "(FROM ")
    yield Repair(Span(tokens[unnest.joined].start, opened.end), f" SELECT *, {before}")
    for comma, name in zip(_commas(tokens, unnest.opened, unnest.closed), unnest.names, strict=False):
        yield Repair(Span(tokens[comma].start, tokens[comma].end), f"{after} AS {name}, {before}")
    closing = tokens[unnest.closed].start
    end, condition = unnest.end, ""
    if _word(tokens, end) == "ON":
        last = _condition_end(tokens, end + 1)
        if _is_true(tokens[end + 1 : last]):
            end = last
        elif unnest.side == "LEFT":
            message = "LEFT JOIN UNNEST is only supported with ON true: filter the array, or join a subquery"
            raise Fault(message, tokens[end].start, unsupported=True)
        else:
            yield Repair(Span(start, start), "(FROM ")
            yield Repair(Span(tokens[last - 1].end, tokens[last - 1].end), ")")
            end, condition = end + 1, " SELECT * WHERE"
    yield Repair(Span(closing, tokens[end - 1].end), f"{after} AS {unnest.names[-1]}){condition}")


def _unqualified(column: exp.Expr, places: dict[int, _Unnest]) -> Iterator[Repair]:
    """Rewrites `u.x` to `x`, and `u.*` to all columns of `u`."""
    table, name = column.args.get("table"), column.this
    if table is None or column.args.get("db") is not None or "start" not in table.meta:
        return
    unnest = places.get(_source(column, table.name.casefold()))
    if unnest is None:
        return
    if isinstance(name, exp.Star):
        yield Repair(Span(table.meta["start"], name.meta["end"] + 1), ", ".join(unnest.names))
    elif any(name.name.casefold() == own.strip('"`').casefold() for own in unnest.names):
        yield Repair(Span(table.meta["start"], name.meta["start"]), "")


def _source(node: exp.Expr, name: str) -> int:
    """Returns the offset of the alias of the source that a qualifier names; -1 if it is not such an UNNEST."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        sources = [select.args.get("from_"), *(select.args.get("joins") or ()), *(select.args.get("laterals") or ())]
        for source in [s.this if isinstance(s, exp.From | exp.Join) else s for s in sources if s is not None]:
            if source.alias_or_name.casefold() == name:
                alias = source.args.get("alias")
                identifier = alias.this if isinstance(alias, exp.TableAlias) else None
                return int(identifier.meta.get("start", -1)) if identifier is not None else -1
        select = select.find_ancestor(exp.Select)
    return -1


# --- tokens ------------------------------------------------------------------------------------------------------


def _word(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].word if 0 <= at < len(tokens) else ""


def _token(tokens: Sequence[Token], at: int) -> Token:
    return tokens[at] if at < len(tokens) else _NOTHING


def _closing(tokens: Sequence[Token], opened: int) -> int:
    depth = 0
    for at in range(opened, len(tokens)):
        depth += (tokens[at].word in _OPEN) - (tokens[at].word in _CLOSE)
        if depth == 0:
            return at
    raise Fault("expected )", tokens[opened].start)


def _is_column(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    is_call = token.kind == "word" and _word(tokens, at + 1) == "("
    return token.kind == "quoted" or (token.kind == "word" and not is_call and token.word not in _NOT_COLUMNS)


def _commas(tokens: Sequence[Token], opened: int, closed: int) -> Iterator[int]:
    depth = 0
    for at in range(opened, closed):
        depth += (tokens[at].word in _OPEN) - (tokens[at].word in _CLOSE)
        if depth == 1 and tokens[at].word == ",":
            yield at


def _alias(tokens: Sequence[Token], at: int) -> tuple[Token | None, tuple[str, ...], int]:
    """Parses [AS] u [(x, y)]: the alias, the column names as written, and the next index. Without a list the column
    has the name of the alias, as in PostgreSQL; without an alias, it is named unnest.
    """
    at += _word(tokens, at) == "AS"
    alias = _token(tokens, at)
    if alias.kind not in ("word", "quoted") or alias.word in _ENDS | _JOINS | {"ON", "USING", "WITH"}:
        return None, ("unnest",), at
    if _word(tokens, at + 1) != "(":
        return alias, (_written(alias),), at + 1
    closed = _closing(tokens, at + 1)
    names = tuple(_written(token) for token in tokens[at + 2 : closed] if token.kind in ("word", "quoted"))
    return alias, names, closed + 1


def _written(token: Token) -> str:
    return token.text if token.kind == "word" else '"' + token.text.replace('"', '""') + '"'


def _condition_end(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        word = tokens[at].word
        is_call = word in ("LEFT", "RIGHT") and _word(tokens, at + 1) == "("
        if depth == 0 and (word in _CLOSE or ((word in _ENDS or word in _JOINS) and not is_call)):
            return at
        depth += (word in _OPEN) - (word in _CLOSE)
        at += 1
    return at


def _is_true(condition: Sequence[Token]) -> bool:
    return [token.word or token.text for token in condition if token.word not in ("(", ")")] in (
        ["TRUE"],
        ["1", "=", "1"],
    )
