"""Parses texts that are a single name, or sort terms, as in arguments of API functions."""

from __future__ import annotations

from pinakes.core.names import Name
from pinakes.parser.classify import error_of
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import tokenize
from pinakes.parser.statements import SortTerm
from pinakes.parser.terms import sort_term


def read_name(text: str) -> Name:
    """Parses a name as in a statement: `orders`, `lake.sales."Order Lines"`."""
    try:
        cursor = Cursor(text, tokenize(text))
        name = cursor.name("the name of a table")
        if not cursor.ended():
            raise cursor.fault("expected one name and nothing else")
    except Fault as fault:
        raise error_of(fault, text, 0) from fault.__cause__
    return name


def read_sort_terms(text: str) -> tuple[SortTerm, ...]:
    """Parses sort terms as after SORTED BY: `day, id DESC NULLS LAST`."""
    try:
        cursor = Cursor(text, tokenize(text))
        terms = [sort_term(cursor)]
        while cursor.accept(","):
            terms.append(sort_term(cursor))
        cursor.done()
    except Fault as fault:
        raise error_of(fault, text, 0) from fault.__cause__
    return tuple(terms)
