"""A text that is one name and nothing else, such as a function of the API is given."""

from __future__ import annotations

from pinakes.core.names import Name
from pinakes.parser.classify import error_of
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import tokenize


def read_name(text: str) -> Name:
    """The name, written as in a statement: `orders`, `lake.sales."Order Lines"`."""
    try:
        cursor = Cursor(text, tokenize(text))
        name = cursor.name("the name of a table")
        if not cursor.ended():
            raise cursor.fault("expected one name and nothing else")
    except Fault as fault:
        raise error_of(fault, text, 0) from fault.__cause__
    return name
