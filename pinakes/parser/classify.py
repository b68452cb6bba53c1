"""The entry point of the parser: text to Statement. All failures are raised as errors of `core/errors.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import NotSupportedError, ParseError, PinakesError, Position
from pinakes.parser.brackets import check_brackets
from pinakes.parser.cursor import Cursor
from pinakes.parser.dispatch import statement
from pinakes.parser.expansion import WORDS
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.limits import check_chains
from pinakes.parser.redaction import carries_secrets, comment_pieces, replaced
from pinakes.parser.redaction_spans import mask, pieces

if TYPE_CHECKING:
    from pinakes.core.types.syntax import SqlType
    from pinakes.parser.from_clauses import FromClause
    from pinakes.parser.lexer import Token
    from pinakes.parser.statements import AnyStatement, Planned, References, Span


def classify(sql: str, answers: Sequence[tuple[str, ...]] = ()) -> AnyStatement:
    """Parses the single statement in `sql` and locates its parts. Raises ParseError if it is invalid. `answers` are
    those to the questions of a Pivot."""
    text = sql.lstrip()
    try:
        return _read(text, answers)
    except Fault as fault:
        raise error_of(fault, sql, len(sql) - len(text)) from fault.__cause__
    except RecursionError as error:
        raise ParseError("this statement is nested too deeply") from error


TRANSLATED = frozenset({"trino", "duckdb", "spark"})
"""Dialects that are translated."""


class Translated(NamedTuple):
    """A statement that was written in another dialect."""

    statement: AnyStatement
    sql: str
    """The text of the user."""
    said: str
    """The text of the user with secrets redacted."""
    tokens: list[Token]
    """Those of the text of the user."""

    @property
    def text(self) -> str:
        return self.statement.text

    @property
    def shown(self) -> str:
        """Our text if neither has secrets."""
        return self.statement.shown if self.said == self.sql else ""

    def relocate(self, error: PinakesError) -> None:
        """Moves the position of an error to the text of the user, or removes it where that is not known."""
        if error.position is not None and self.text != self.sql:
            error.position = _moved(error.position, self.text, self.sql, self.tokens)


def classify_dialect(sql: str, dialect: str) -> Translated:
    """Parses the single statement in `sql`, which is written in a dialect that is not ours."""
    from pinakes.parser.translation.statement import translate

    try:
        text, tokens = translate(sql, dialect)
    except Fault as fault:
        raise error_of(fault, sql, 0) from fault.__cause__
    except RecursionError as error:
        raise ParseError("this statement is nested too deeply") from error
    try:
        statement = classify(text)
    except PinakesError as error:
        if error.position is not None and text != sql:
            error.position = _moved(error.position, text, sql, tokens)
        raise
    return Translated(statement, sql, mask(sql), tokens)


def _moved(position: Position, text: str, sql: str, tokens: list[Token]) -> Position | None:
    from pinakes.parser.translation.positions import place_of

    lines = text.split("\n")
    if position.line > len(lines) or lines[position.line - 1] != position.text:
        return None  # a secret was redacted in it
    offset = sum(len(line) + 1 for line in lines[: position.line - 1]) + position.column - 1
    found = place_of(offset, text, tokens)
    return None if found is None else Position.of(*replaced(sql, pieces(sql), found))


def locate_references(statement: Planned) -> References:
    """Returns every reference to a column in a planned statement. Parses the text again unless the statement has
    them already, so call it only when they are needed.
    """
    if statement.references is not None:
        return statement.references
    from pinakes.parser.columns import references

    try:
        return references(statement)
    except Fault as fault:
        raise error_of(fault, statement.text, 0) from fault.__cause__
    except RecursionError as error:
        raise ParseError("this statement is nested too deeply to find its columns") from error


def locate_from_clauses(statement: Planned) -> tuple[FromClause, ...]:
    """Returns the FROM clauses of a planned statement whose tables can be reordered. Parses the text again."""
    from pinakes.parser.from_clauses import from_clauses

    return from_clauses(statement)


def locate_join_predicates(text: str, *, loose: bool) -> list[Span]:
    """Returns the predicates of a text that compare rows of several tables (`join_predicates.py`)."""
    from pinakes.parser.join_predicates import join_predicates

    return join_predicates(text, loose=loose)


def read_type(text: str) -> SqlType:
    """Parses a type such as `DECIMAL(10, 2)`. Raises ParseError if it is invalid."""
    from pinakes.parser import types

    try:
        cursor = Cursor(text, tokenize(text))
        found = types.read_type(cursor)
        cursor.done()
    except Fault as fault:
        raise error_of(fault, text, 0) from fault.__cause__
    return found


def _read(text: str, answers: Sequence[tuple[str, ...]] | None = None) -> AnyStatement:
    tokens = tokenize(text)
    while tokens and tokens[-1].word == ";":
        tokens.pop()
    if not tokens:
        raise Fault("there is no statement here", 0)
    words = [token.word for token in tokens]
    if ";" in words:
        raise Fault("one statement at a time: split a script first", tokens[words.index(";")].start)
    check_brackets(tokens)
    check_chains(tokens, words)
    if answers is not None and not WORDS.isdisjoint(words):
        found = _written_out(text[: tokens[-1].end], tokens, answers)
        if found is not None:
            return found
    return statement(_cursor(text, tokens))


def _cursor(text: str, tokens: list[Token]) -> Cursor:
    cursor = Cursor(text[: tokens[-1].end], tokens)
    if carries_secrets(tokens):
        cursor.hidden += comment_pieces(text, tokens, 0, tokens[-1].end)
    return cursor


def _written_out(text: str, tokens: list[Token], answers: Sequence[tuple[str, ...]]) -> AnyStatement | None:
    """Parses a statement with forms that are written out first; None if it has none."""
    from pinakes.parser.expansion.expand import Unanswered, expand
    from pinakes.parser.statements import Pivot

    shown = _cursor(text, tokens).shown
    try:
        origin = expand(text, shown, answers)
    except Unanswered as unanswered:
        return Pivot(text=text, shown=shown, question=unanswered.question, answers=tuple(answers))
    if origin is None:
        return None
    try:
        return replace(_read(origin.text), origin=origin)
    except Fault as fault:
        fault.offset = origin.place(fault.offset)
        raise


def error_of(fault: Fault, sql: str, shift: int) -> PinakesError:
    """Converts a Fault to the error that users see, with secrets of the text redacted."""
    hidden = pieces(sql)
    offset = fault.offset + shift
    message = fault.message
    if fault.found is not None and not any(span.start <= offset < span.end for span, _ in hidden):
        message = f"{message}, found {fault.found}"
    position = Position.of(*replaced(sql, hidden, offset))
    kind = NotSupportedError if fault.unsupported else ParseError
    return kind(message, position=position)
