"""Text → Statement: the door of the parser. Whatever goes wrong inside leaves as an error of `core/errors.py`."""

from __future__ import annotations

from pinakes.core.errors import NotSupportedError, ParseError, PinakesError, Position
from pinakes.parser.brackets import check_brackets
from pinakes.parser.cursor import Cursor
from pinakes.parser.dispatch import statement
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token, tokenize
from pinakes.parser.statements import Statement


def classify(sql: str) -> Statement:
    """The one statement in `sql`: what it is and where things stand in it. ParseError if it can't be read."""
    text = sql.lstrip()
    try:
        return _read(text)
    except Fault as fault:
        raise error_of(fault, sql, len(sql) - len(text)) from fault.__cause__


def _read(text: str) -> Statement:
    tokens = tokenize(text)
    while tokens and tokens[-1].word == ";":
        tokens.pop()
    if not tokens:
        raise Fault("there is no statement here", 0)
    _check_single(tokens)
    check_brackets(tokens)
    return statement(Cursor(text[: tokens[-1].end], tokens))


def _check_single(tokens: list[Token]) -> None:
    for token in tokens:
        if token.word == ";":
            raise Fault("expected one statement; split() takes a script apart", token.start)


def error_of(fault: Fault, sql: str, shift: int) -> PinakesError:
    message = fault.message if fault.found is None else f"{fault.message}, found {fault.found}"
    position = Position.of(sql, fault.offset + shift)
    kind = NotSupportedError if fault.unsupported else ParseError
    return kind(message, position=position)
