"""References to columns in a planned statement, located on demand, since most statements don't need them."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError
from pinakes.parser.changes import as_query, fragments_of
from pinakes.parser.cursor import Cursor
from pinakes.parser.dispatch import statement as read_statement
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.locate import read
from pinakes.parser.parameters import join_named
from pinakes.parser.references import references_of
from pinakes.parser.statements import (
    AlterView,
    CopyTo,
    CreateTableAs,
    CreateView,
    Delete,
    Describe,
    Explain,
    ExplainFull,
    Insert,
    Merge,
    Planned,
    Query,
    References,
    Span,
    Statement,
    Summarize,
    Update,
)

_WITH_BODY = (AlterView, CopyTo, CreateTableAs, CreateView, Describe, Insert, Summarize)


def references(statement: Planned) -> References:
    """Returns the references of the statement; empty if sqlglot can't parse it."""
    tokens = planned_tokens(statement, join_named(tokenize(statement.text))) if statement.parsed else []
    if not tokens:
        return References()
    tree = read(statement.text, tokens, {token.word for token in tokens})
    return references_of(tree, statement.tables, statement.values)


def refuse_subqueries(statement: Planned) -> None:
    """Raises an error for subqueries that would be answered wrongly, in a statement that `subqueries/` can't read."""
    from pinakes.parser.wrong_results import refuse_subqueries_of

    tokens = planned_tokens(statement, join_named(tokenize(statement.text))) if statement.parsed else []
    if tokens:
        try:
            refuse_subqueries_of(read(statement.text, tokens, {token.word for token in tokens}).root)
        except Fault as fault:
            raise NotSupportedError(str(fault)) from None


def planned_tokens(statement: Statement, tokens: list[Token]) -> list[Token]:
    """Returns the tokens of the query within a statement."""
    match statement:
        case Query():
            return tokens
        case Update() | Delete() | Merge():
            return as_query(tokens, fragments_of(statement))
        case Explain() | ExplainFull():
            inside = [t for t in tokens if t.start >= statement.body.start]
            return planned_tokens(read_statement(Cursor(statement.text, inside)), inside)
    body = statement.body if isinstance(statement, _WITH_BODY) else None
    if body is None or (isinstance(statement, CopyTo) and statement.text[body.start] != "("):
        return []
    inside = [t for t in tokens if body.start <= t.start < body.end]
    if isinstance(statement, Insert) and statement.head is not None:
        return without_head(inside, statement.head)
    return inside


def without_head(tokens: list[Token], head: Span) -> list[Token]:
    """Returns the query of WITH … INSERT …: the WITH after INSERT, if there is one, continues that before it."""
    again = [t for t in tokens if t.word == "WITH" and head.start < t.start < head.end]
    comma = [Token("symbol", ",", ",", t.start, t.start) for t in again]
    return [*(t for t in tokens if t.end <= head.start), *comma, *(t for t in tokens if t.start >= head.end)]
