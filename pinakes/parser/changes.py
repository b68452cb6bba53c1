"""Combines the fragments of UPDATE, DELETE and MERGE in one query, so that sqlglot checks and locates all of them
at once.

    UPDATE t AS a SET x = e FROM s WHERE c   →   SELECT (e) FROM t AS a, s WHERE c
    MERGE INTO t USING s ON c WHEN …         →   SELECT (every condition and value) FROM t, s WHERE c
    WITH … before any of them                →   WITH … SELECT

The tokens keep their offsets in the user's text; the tokens between them have no width.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from pinakes.core.names import Part
from pinakes.parser.lexer import Kind, Token
from pinakes.parser.locate import Located, locate_in_tree
from pinakes.parser.parameters import join_named, placeholders
from pinakes.parser.statements import Assignment, Delete, Merge, MergeClause, Span, TableRef, Update


class Fragments(NamedTuple):
    target: TableRef
    expressions: Sequence[Span]
    source: Span | None = None
    where: Span | None = None
    leading: Span | None = None
    """WITH …"""


def fragments_of(statement: Update | Delete | Merge) -> Fragments:
    match statement:
        case Update():
            values = [a.value for a in statement.assignments]
            return Fragments(statement.target, values, statement.source, statement.where, statement.leading)
        case Delete():
            return Fragments(statement.target, [], statement.source, statement.where, statement.leading)
        case Merge():
            spans = clause_spans(statement.clauses)
            return Fragments(statement.target, spans, statement.source, statement.on, statement.leading)


def leading_span(tokens: Sequence[Token]) -> Span | None:
    """Returns the span of the WITH before a statement."""
    return Span(tokens[0].start, tokens[-1].end) if tokens else None


def clause_spans(clauses: Sequence[MergeClause]) -> list[Span]:
    """Returns the spans of all expressions in the WHEN clauses."""
    found: list[Span] = []
    for clause in clauses:
        found += [clause.condition] if clause.condition else []
        found += assignment_spans(clause.assignments)
        found += clause.values
    return found


def assignment_spans(assignments: Sequence[Assignment]) -> list[Span]:
    return [a.value for a in assignments]


def locate_change(text: str, tokens: list[Token], fragments: Fragments) -> Located:
    """Locates tables and references of a change; an invalid fragment is a Fault. References to columns are
    included, since each fragment is planned separately, where the target of its columns has another name.
    """
    from pinakes.parser.references import references_of

    tokens = join_named(tokens)
    located, tree = locate_in_tree(text, as_query(tokens, fragments), strict=True)
    tables = tuple(t for t in located.tables if t.span != fragments.target.span)
    references = references_of(tree, tables, located.values) if tree is not None else None
    return Located(tables, placeholders(tokens), located.values, repairs=located.repairs, references=references)


def as_query(tokens: list[Token], fragments: Fragments) -> list[Token]:
    """Returns the query that represents the change."""
    starts = [t.start for t in tokens]

    def cut(span: Span) -> list[Token]:
        return tokens[bisect_left(starts, span.start) : bisect_left(starts, span.end)]

    made = cut(fragments.leading) if fragments.leading else []
    made += [_glue("SELECT", 0), _glue("1", 0, "number")]
    for span in fragments.expressions:
        made += [_glue(",", span.start, "symbol"), _glue("(", span.start, "symbol")]
        made += [*cut(span), _glue(")", span.end, "symbol")]
    made += target_tokens(tokens, fragments.target)
    if fragments.source:
        made += [_glue(",", fragments.source.start, "symbol"), *cut(fragments.source)]
    if fragments.where:
        made += [_glue("WHERE", fragments.where.start), *cut(fragments.where)]
    return made


def target_tokens(tokens: list[Token], target: TableRef) -> list[Token]:
    """FROM target AS alias"""
    name = [token for token in tokens if target.span.start <= token.start < target.span.end]
    return [_glue("FROM", target.span.start), *name, *_alias(target.alias, target.span.end)]


def _alias(alias: Part | None, at: int) -> list[Token]:
    if alias is None:
        return []
    kind: Kind = "quoted" if alias.quoted else "word"
    return [_glue("AS", at), Token(kind, alias.text, "" if alias.quoted else alias.text.upper(), at, at)]


def _glue(text: str, at: int, kind: Kind = "word") -> Token:
    return Token(kind, text, text if kind != "number" else "", at, at)
