"""Rewrites forms that DataFusion's SQL parser misreads or lacks, in the text at the offsets of their tokens.

a IS DISTINCT FROM 5 AND b     →  (a IS DISTINCT FROM 5) AND b      it would compare with `5 AND b`
FROM t WHERE a                 →  SELECT * FROM t WHERE a           it would give rows without columns
TABLE t                        →  SELECT * FROM t
FETCH FIRST 3 ROWS ONLY        →  LIMIT 3
mod(a, b), log(x), sign(x)     →  ((a) % (b)), log10(x), signum(x)
user.name, t.user              →  "user".name, t."user"             it would call a function
list[1].name                   →  list[1]['name']
FROM t, range(3) AS g          →  FROM t, (SELECT * FROM range(3) LIMIT 3) AS g

The last one gives DataFusion the number of rows, which it does not know for these functions: a join without a
condition would otherwise make a batch of three rows for each row of t. `syntax/` has the forms with more to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pinakes.parser.json_rows import JSON_ROWS, json_rows
from pinakes.parser.lambdas import arrow_lambdas
from pinakes.parser.lexer import Token
from pinakes.parser.statements import Repair, Span
from pinakes.parser.syntax.collations import collations
from pinakes.parser.syntax.multisets import multisets
from pinakes.parser.syntax.ordinality import numbered
from pinakes.parser.syntax.samples import samples
from pinakes.parser.syntax.similar import like_patterns, similar_patterns
from pinakes.parser.syntax.small_words import left_joins, without_materialized
from pinakes.parser.syntax.struct_types import struct_types
from pinakes.parser.syntax.subscripts import bounded_slices
from pinakes.parser.syntax.type_names import TYPE_NAMES, type_names
from pinakes.parser.workarounds.any_value_order import ordered_any_values

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_SET_WORDS = frozenset({"ALL", "DISTINCT", "BY", "NAME"})
_QUERY_STARTS = frozenset({"SELECT", "VALUES", "FROM", "TABLE"})
_JOINING = frozenset({"AND", "OR", "XOR"})
_BOUNDS = frozenset(
    {",", "SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH"}
    | {"ON", "USING", "JOIN", "WHEN", "THEN", "ELSE", "END", "CASE", "AS", "SET", "VALUES", "=>", ":"}
    | _SET_OPERATORS
)
_NOT_PREFIXES = frozenset({"IN", "LIKE", "ILIKE", "BETWEEN", "SIMILAR", "RLIKE", "REGEXP", "NULL", "MATCHED"})


_SERIES = frozenset({"RANGE", "GENERATE_SERIES"})
_AFTER_FROM = frozenset(
    {"WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "SELECT"} | _SET_OPERATORS
)


def repairs(tokens: Sequence[Token], words: set[str]) -> tuple[Repair, ...]:
    """Returns the rewrites of the text, in its order."""
    found: list[Repair] = []
    if "IS" in words and "DISTINCT" in words:
        found += _distinct_from(tokens)
    if tokens and (words & {"FROM", "TABLE"}):
        found += _bare_tables(tokens)
    if "FETCH" in words:
        found += _fetches(tokens)
    if not words.isdisjoint(_FUNCTIONS):
        found += _functions(tokens)
    if "USER" in words and "." in words:
        found += _columns_named_user(tokens)
    if "]" in words and "." in words:
        found += _fields_of_elements(tokens)
    if words & _SERIES:
        found += _sized_series(tokens)
    if "ANY_VALUE" in words and "ORDER" in words:
        found += ordered_any_values(tokens)
    if "LAMBDA" in words:
        found += arrow_lambdas(tokens)
    if not words.isdisjoint(JSON_ROWS):
        found += json_rows(tokens)
    if "MATERIALIZED" in words:
        found += without_materialized(tokens)
    if "SEMI" in words or "ANTI" in words:
        found += left_joins(tokens)
    if "SIMILAR" in words:
        found += similar_patterns(tokens)
    if "ESCAPE" in words:
        found += like_patterns(tokens)
    if "ALL" in words and not words.isdisjoint(("INTERSECT", "EXCEPT")):
        found += multisets(tokens)
    if "TABLESAMPLE" in words or "SAMPLE" in words:
        found += samples(tokens)
    if "COLLATE" in words:
        found += collations(tokens)
    if "ORDINALITY" in words:
        found += numbered(tokens)
    if not words.isdisjoint(TYPE_NAMES):
        found += type_names(tokens)
    if "[" in words:
        found += bounded_slices(tokens)
    if "STRUCT" in words:
        found += struct_types(tokens)
    return tuple(sorted(found, key=lambda r: r.span.start))


_RENAMED = {"SIGN": "signum", "VARIANCE": "var_samp"}
_FUNCTIONS = frozenset({*_RENAMED, "MOD", "LOG"})
"""Functions of PostgreSQL with another name in DataFusion, or an operator."""


# --- IS DISTINCT FROM --------------------------------------------------------------------------------------------


class _Level:
    """The state of an expression within one pair of brackets, or within CASE … END."""

    __slots__ = ("between", "compared", "first", "is_case")

    def __init__(self, is_case: bool = False) -> None:
        self.is_case = is_case
        self.first: int | None = None
        """The start of the current operand of AND, OR or NOT."""
        self.compared = False
        """Whether that operand is a comparison with IS [NOT] DISTINCT FROM."""
        self.between = 0


def _distinct_from(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Yields parentheses around comparisons that are followed by an operator of lower precedence."""
    levels = [_Level()]
    for at, token in enumerate(tokens):
        word, level = token.word, levels[-1]
        if word == "CASE" or word in _OPEN:
            level.first = at if level.first is None else level.first
            levels.append(_Level(word == "CASE"))
        elif word in _CLOSE or (word == "END" and level.is_case):
            _close(levels, tokens, word)
        elif word == "AND" and level.between:
            level.between -= 1
        elif word in _JOINING or word == "IS":
            if level.compared and level.first is not None:
                yield from _parentheses(tokens[level.first].start, tokens[at - 1].end)
            level.compared = word == "IS" and _is_distinct_from(tokens, at)
            level.first = level.first if word == "IS" else None
        elif _starts_statement(tokens, at):
            levels[-1] = _Level(level.is_case)
        else:
            level.between += word == "BETWEEN"
            level.first = at if level.first is None else level.first


def _close(levels: list[_Level], tokens: Sequence[Token], word: str) -> None:
    while word != "END" and levels[-1].is_case:  # a CASE without its END
        levels.pop()
    levels.pop()
    first = levels[-1].first
    if first and first > 1 and [t.word for t in tokens[first - 2 : first]] == ["DISTINCT", "ON"]:
        levels[-1].first = None


def _starts_statement(tokens: Sequence[Token], at: int) -> bool:
    """Returns whether an expression ends before this token."""
    word, before = tokens[at].word, tokens[at - 1].word if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if word == "NOT":
        return before != "IS" and (after is None or after.word not in _NOT_PREFIXES)
    if word == "DISTINCT":
        return before not in ("IS", "NOT")
    if word == "FROM":
        return before != "DISTINCT"
    if word == "ALL":
        return before == "SELECT"
    if word == "->":  # a lambda's, unless it is the operator on JSON
        return after is not None and after.kind not in ("string", "number")
    return word in _BOUNDS


def _is_distinct_from(tokens: Sequence[Token], at: int) -> bool:
    words = [t.word for t in tokens[at + 1 : at + 4]]
    return words[:2] == ["DISTINCT", "FROM"] or words == ["NOT", "DISTINCT", "FROM"]


def _parentheses(start: int, end: int) -> Iterator[Repair]:
    yield Repair(Span(start, start), "(")
    yield Repair(Span(end, end), ")")


# --- FROM t, TABLE t ---------------------------------------------------------------------------------------------


def _bare_tables(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Yields rewrites of queries without SELECT. A query starts the text, follows a bracket, a set operator or a
    WITH.
    """
    places: list[Literal["start", "with", "within"]] = ["start"]
    for at, token in enumerate(tokens):
        word = token.word
        if word in _OPEN:
            places.append("within" if at and tokens[at - 1].word == "TRIM" else "start")
        elif word in _CLOSE:
            places.pop()
        elif word in _SET_OPERATORS:
            places[-1] = "start"
        elif places[-1] == "start" and word == "WITH":
            places[-1] = "with"
        elif word in _QUERY_STARTS and places[-1] != "within":
            places[-1] = "within"
            yield from _selected(tokens, at)
        elif places[-1] == "start" and word not in _SET_WORDS:
            places[-1] = "within"


def _selected(tokens: Sequence[Token], at: int) -> Iterator[Repair]:
    """Adds `SELECT *` to a query that starts with FROM or TABLE and has no SELECT list."""
    token = tokens[at]
    if token.start == token.end:  # a zero-width token of a caller of `locate.py`
        return
    if token.word == "TABLE" and at + 1 < len(tokens) and tokens[at + 1].kind in ("word", "quoted", "string"):
        yield Repair(Span(token.start, token.end), "SELECT * FROM")
    elif token.word == "FROM" and not _selects_later(tokens, at):
        yield Repair(Span(token.start, token.start), "SELECT * ")


def _selects_later(tokens: Sequence[Token], at: int) -> bool:
    """FROM t SELECT a"""
    depth = 0
    for token in tokens[at:]:
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        if depth < 0 or (depth == 0 and token.word in _SET_OPERATORS):
            return False
        if depth == 0 and token.word == "SELECT":
            return True
    return False


# --- FETCH FIRST -------------------------------------------------------------------------------------------------


def _fetches(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Rewrites FETCH FIRST | NEXT [n] ROW | ROWS ONLY; other forms of FETCH are left to DataFusion."""
    for at, token in enumerate(tokens):
        words = [t.word for t in tokens[at : at + 5]]
        if words[:1] != ["FETCH"] or words[1:2] not in (["FIRST"], ["NEXT"]):
            continue
        if len(words) > 3 and words[2] in ("ROW", "ROWS") and words[3] == "ONLY":
            yield Repair(Span(token.start, tokens[at + 3].end), "LIMIT 1")
        elif len(words) > 4 and words[3] in ("ROW", "ROWS") and words[4] == "ONLY":
            yield Repair(Span(token.start, tokens[at + 1].end), "LIMIT")
            yield Repair(Span(tokens[at + 3].start, tokens[at + 4].end), "")


# --- functions -------------------------------------------------------------------------------------------------------


def _functions(tokens: Sequence[Token]) -> Iterator[Repair]:
    for at, token in enumerate(tokens):
        if token.word not in _FUNCTIONS or token.kind != "word" or (at and tokens[at - 1].word == "."):
            continue
        if at + 1 == len(tokens) or tokens[at + 1].word != "(":
            continue
        name = Span(token.start, token.end)
        if token.word in _RENAMED:
            yield Repair(name, _RENAMED[token.word])
            continue
        commas, end = _arguments(tokens, at + 1)
        if token.word == "LOG" and not commas:
            yield Repair(name, "log10")
        elif token.word == "MOD" and len(commas) == 1 and end is not None:
            yield Repair(name, "(")
            yield Repair(Span(commas[0].start, commas[0].end), ") % (")
            yield Repair(Span(end.start, end.end), "))")


def _arguments(tokens: Sequence[Token], opening: int) -> tuple[list[Token], Token | None]:
    """Returns the commas between the arguments of a call, and its closing bracket."""
    commas: list[Token] = []
    depth = 0
    for token in tokens[opening:]:
        depth += (token.word in _OPEN) - (token.word in _CLOSE)
        if depth == 0:
            return commas, token
        if depth == 1 and token.word == ",":
            commas.append(token)
    return commas, None


# --- list[1].name ------------------------------------------------------------------------------------------------


def _fields_of_elements(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Rewrites fields after a bracket to brackets."""
    at = 0
    while at + 2 < len(tokens):
        bracket, dot, name = tokens[at : at + 3]
        if bracket.word != "]" or dot.word != "." or name.kind not in ("word", "quoted"):
            at += 1
            continue
        while at + 2 < len(tokens) and tokens[at + 1].word == "." and tokens[at + 2].kind in ("word", "quoted"):
            name = tokens[at + 2]
            field = name.text if name.kind == "quoted" else name.text.lower()
            written = field.replace("'", "''")
            yield Repair(Span(tokens[at + 1].start, name.end), f"['{written}']")
            at += 2


# --- user.name ---------------------------------------------------------------------------------------------------


def _columns_named_user(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Quotes `user` next to a dot, where it is a name; alone it may be the function."""
    for at, token in enumerate(tokens):
        if token.word == "USER" and "." in (
            tokens[at - 1].word if at else "",
            *(t.word for t in tokens[at + 1 : at + 2]),
        ):
            yield Repair(Span(token.start, token.end), '"user"')


# --- range(…) joined with other tables ---------------------------------------------------------------------------


class _From:
    """The state of a query within one pair of brackets."""

    __slots__ = ("calls", "has_select", "is_from", "joined")

    def __init__(self) -> None:
        self.has_select = self.is_from = self.joined = False
        self.calls: list[tuple[Token, Token, int]] = []
        """The first and the last token of each call, and its number of rows."""

    def ended(self) -> Iterator[Repair]:
        for first, last, rows in self.calls if self.joined else ():
            yield Repair(Span(first.start, first.start), "(SELECT * FROM ")
            yield Repair(Span(last.end, last.end), f" LIMIT {rows})")
        self.calls, self.is_from, self.joined = [], False, False


def _sized_series(tokens: Sequence[Token]) -> Iterator[Repair]:
    """Rewrites calls with numeric arguments in a FROM clause with several tables."""
    levels = [_From()]
    for at, token in enumerate(tokens):
        word, level = token.word, levels[-1]
        if word in _OPEN:
            levels.append(_From())
        elif word in _CLOSE and len(levels) > 1:
            yield from levels.pop().ended()
        elif word == "FROM" and level.has_select:
            level.is_from = at > 0 and tokens[at - 1].word != "DISTINCT"
        elif word in _AFTER_FROM:
            yield from level.ended()
            level.has_select |= word == "SELECT"
        elif level.is_from:
            level.joined |= word in (",", "JOIN")
            found = _series(tokens, at) if word in _SERIES and tokens[at - 1].word in ("FROM", ",", "JOIN") else None
            level.calls += [found] if found is not None else []
    yield from (repair for level in levels for repair in level.ended())


def _series(tokens: Sequence[Token], at: int) -> tuple[Token, Token, int] | None:
    """Parses range(stop), range(start, stop) or range(start, stop, step); generate_series includes its last number."""
    end = next((i for i in range(at, min(at + 10, len(tokens))) if tokens[i].word == ")"), None)
    if end is None or tokens[at + 1].word != "(":
        return None
    numbers = "".join(t.text if t.kind == "number" else t.word or "?" for t in tokens[at + 2 : end]).split(",")
    if not 1 <= len(numbers) <= 3 or not all(n.removeprefix("-").isdecimal() for n in numbers):
        return None
    given = [int(n) for n in numbers]
    start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]
    if step == 0:
        return None
    last = stop + (1 if step > 0 else -1) * (tokens[at].word == "GENERATE_SERIES")
    return tokens[at], tokens[end], max(0, -((start - last) // step))
