"""Translates a statement: only the parts that dialects write differently, which are queries and changes of rows.

Everything else (SHOW, USE, SET, ATTACH, CALL, …) stays as it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import expressions as exp

from pinakes.core.errors import NotSupportedError
from pinakes.parser.brackets import check_brackets
from pinakes.parser.faults import Fault
from pinakes.parser.grammar.query import STARTS
from pinakes.parser.hints import engine_hint
from pinakes.parser.lexer import Token, tokenize_what_fits
from pinakes.parser.limits import check_chains
from pinakes.parser.projections import named_items
from pinakes.parser.translation import duckdb, spark, trino
from pinakes.parser.translation.read import parse, tokens_of
from pinakes.parser.translation.rules import Dialect, apply
from pinakes.parser.translation.write import written

_DIALECTS: dict[str, Dialect] = {d.name: d for d in (trino.DIALECT, duckdb.DIALECT, spark.DIALECT)}
_CHANGES = ("INSERT", "UPDATE", "DELETE", "MERGE")
_OPTIONS = ("ANALYZE", "ANALYSE", "VERBOSE", "FULL", "FORMAT", "TYPE", "JSON", "TEXT", "TREE")
_QUERIES = ("SELECT", "WITH", "VALUES", "FROM", "(")


class Translation(NamedTuple):
    """Our text of a statement, with the tokens of the text it was made from."""

    text: str
    tokens: list[Token]


def translate(sql: str, dialect: str) -> Translation:
    """Returns the statement in our SQL. It is `sql` itself if nothing has to be written otherwise."""
    tokens = tokens_of(sql, dialect)
    while tokens and tokens[-1].word == ";":
        tokens.pop()
    words = [token.word for token in tokens]
    if not tokens or ";" in words:
        return Translation(sql, tokens)  # the error is reported as always
    check_brackets(tokens)
    check_chains(tokens, words)
    made, at = list[str](), 0
    for first, end in _parts(tokens, words, 0):
        start = tokens[first].start
        made += [sql[at:start], _translated(sql, tokens[first:end], _DIALECTS[dialect])]
        at = tokens[end - 1].end
    text = "".join((*made, sql[at:]))
    if text == sql:
        return Translation(sql, tokens)
    hint = engine_hint(sql)
    return Translation(text if hint is None or engine_hint(text) else f"/*+ ENGINE({hint}) */ {text}", tokens)


def _same(sql: str, text: str) -> bool:
    """Returns whether two texts have the same tokens for our lexer."""
    ours, fault = tokenize_what_fits(text)
    theirs, other = tokenize_what_fits(sql)
    return fault is None and other is None and [_key(t) for t in ours] == [_key(t) for t in theirs]


def _key(token: Token) -> tuple[str, str]:
    return token.kind, token.word or token.text


def _parts(tokens: Sequence[Token], words: Sequence[str], at: int) -> list[tuple[int, int]]:
    """Returns the parts to translate, each as the indexes of its first token and of that behind its last."""
    word, count = words[at], len(words)
    after = words[at + 1] if at + 1 < count else ""
    if word in STARTS or word in ("UPDATE", "DELETE", "MERGE"):
        return [(at, count)]
    if word == "INSERT":
        return _of_insert(tokens, words, at)
    if word == "EXPLAIN":
        at += 1
        while at < count and (words[at] in _OPTIONS or (words[at] == "(" and _is_option(words, at))):
            at = _behind(words, at)
        return _parts(tokens, words, at) if at < count else []
    if word in ("DESCRIBE", "DESC", "SUMMARIZE"):
        at += 2 if after == "QUERY" else 1
        return [(at, count)] if at < count and words[at] in _QUERIES else []
    if word == "PREPARE":
        found = next((i for i in range(at + 2, count) if words[i] in ("AS", "FROM")), count) + 1
        return _parts(tokens, words, found) if found < count else []
    if word == "COPY" and after == "(":
        return [(at + 2, _behind(words, at + 1) - 1)]
    if word in ("CREATE", "ALTER"):
        return _of_definition(words, at)
    return []


def _is_option(words: Sequence[str], at: int) -> bool:
    return at + 1 < len(words) and words[at + 1] in _OPTIONS


def _behind(words: Sequence[str], at: int) -> int:
    """Returns the index behind a token, or behind the bracket that it opens."""
    depth = 0
    for index in range(at, len(words)):
        depth += (words[index] == "(") - (words[index] == ")")
        if depth == 0:
            return index + 1
    return len(words)


def _of_insert(tokens: Sequence[Token], words: Sequence[str], at: int) -> list[tuple[int, int]]:
    """INSERT INTO name (columns) query [ON CONFLICT … | RETURNING …]"""
    first = at + 1
    while first < len(words):
        inner = words[first + 1] if first + 1 < len(words) else ""
        if words[first] in ("SELECT", "WITH", "VALUES", "FROM"):
            break
        if words[first] == "(" and inner in ("SELECT", "WITH", "VALUES", "("):
            break
        if words[first] == "TABLE" and words[first - 1] not in ("INTO", "OVERWRITE"):
            break
        first = _behind(words, first)
    end = first
    while (
        end < len(words)
        and words[end] != "RETURNING"
        and not (words[end] == "ON" and words[end + 1 : end + 2] == ["CONFLICT"])
    ):
        end = _behind(words, end)
    if end < len(words):
        raise Fault(
            f"{'RETURNING' if words[end] == 'RETURNING' else 'ON CONFLICT'} is not translated: SET dialect = 'pinakes'",
            tokens[end].start,
            unsupported=True,
        )
    return [(first, end)] if first < end else []


def _of_definition(words: Sequence[str], at: int) -> list[tuple[int, int]]:
    """CREATE TABLE | VIEW … AS query, ALTER VIEW … AS query"""
    if not {"TABLE", "VIEW"} & set(words[at : at + 6]):
        return []
    index = at
    while index + 1 < len(words):
        if words[index] == "AS" and words[index + 1] in STARTS:
            end = len(words)
            if words[-3:] == ["WITH", "NO", "DATA"] or words[-2:] == ["WITH", "DATA"]:
                end -= 3 if words[-2] == "NO" else 2
            return [(index + 1, end)]
        index = _behind(words, index)
    return []


def _translated(sql: str, tokens: Sequence[Token], dialect: Dialect) -> str:
    try:
        tree = apply(parse(tokens, sql, dialect.name), dialect)
        text = written(tree)
        before = sql[tokens[0].start : tokens[-1].end]
        if _same(before, text):
            return before
        if not isinstance(tree, exp.Query):
            return text
        return written(tree) if _name_items(tree, sql, tokens) else text
    except Fault as fault:
        if fault.offset >= 0:
            raise
        raise NotSupportedError(fault.message) from fault  # without a position, since none is known


def _name_items(tree: exp.Expr, sql: str, tokens: Sequence[Token]) -> bool:
    """Gives the unnamed items of the outermost SELECT the names that they have as they are written."""
    select = tree
    while isinstance(select, exp.SetOperation):
        select = select.this
    names = named_items(sql, tokens)
    if not isinstance(select, exp.Select) or len(names) != len(select.expressions):
        return False
    items = zip(list(select.expressions), names, strict=True)
    select.set(
        "expressions",
        [
            item
            if name is None or isinstance(item, exp.Alias | exp.Star | exp.Column)
            else exp.Alias(this=item, alias=exp.Identifier(this=name, quoted=True))
            for item, name in items
        ],
    )
    return True
