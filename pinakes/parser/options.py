"""Parses lists in parentheses: options of ATTACH, CREATE SECRET and COPY, properties of tables and namespaces."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.parser.cursor import MOST_DIGITS, Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.redaction import MASK, is_known, masked_address, not_secret
from pinakes.parser.statements import Option, OptionValue, Properties, Span

_CONSTANTS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}


def options(cursor: Cursor, *, shown: Callable[[str], bool]) -> tuple[Option, ...]:
    """Parses (KEY value, KEY = value, KEY), which may be empty. `shown` returns whether the value of a key may be
    shown.
    """
    cursor.expect("(")
    found: list[Option] = []
    while cursor.word != ")":
        found.append(_option(cursor, shown))
        if cursor.word != ")":
            cursor.expect(",")
    cursor.expect(")")
    check_once([o.key for o in found], cursor)
    return tuple(found)


def _option(cursor: Cursor, shown: Callable[[str], bool]) -> Option:
    key = option_key(cursor)
    if cursor.word in (",", ")"):
        return Option(key, True)
    first = cursor.at
    value = literal(cursor)
    hide(cursor, cursor.span_from(first), harmless=shown(key))
    return Option(key, value)


def option_key(cursor: Cursor) -> str:
    """Parses the key of an option, returned in upper case, and the optional sign after it."""
    token = cursor.peek()
    key = key_name(cursor, "an option").upper()
    if token.kind != "word" and not is_known(key):  # a value in the position of a key
        hide(cursor, Span(token.start, token.end))
    cursor.accept_one("=", "=>", ":=")
    return key


def hide(cursor: Cursor, span: Span, *, harmless: bool = False) -> None:
    """Redacts a value; of a harmless one only the credentials in its address."""
    written = span.of(cursor.text)
    instead = masked_address(written) if harmless else MASK
    if instead != written:
        cursor.hidden.append((span, instead))


def key_name(cursor: Cursor, what: str) -> str:
    """a_key, a.dotted-key, "quoted", 'string'"""
    token = cursor.peek()
    if token.kind == "string":
        return cursor.take().text
    if token.kind not in ("word", "quoted"):
        raise cursor.fault(f"expected the name of {what}")
    end = cursor.take().end
    name = token.text
    while cursor.peek().start == end and cursor.peek(1).kind in ("word", "quoted", "number"):
        if cursor.word not in (".", "-"):
            break
        name += cursor.take().text + cursor.peek().text
        end = cursor.take().end
    return name


def literal(cursor: Cursor) -> OptionValue:
    """Parses a string, a number, TRUE, FALSE, NULL, or a bare word."""
    token = cursor.peek()
    if token.kind == "number" or (token.word in ("-", "+") and cursor.peek(1).kind == "number"):
        return _number(cursor)
    if token.word in _CONSTANTS:
        return _CONSTANTS[cursor.take().word]
    if token.kind not in ("string", "quoted", "word"):
        raise cursor.fault("expected a value: a string, a number, TRUE or FALSE")
    return cursor.take().text


def _number(cursor: Cursor) -> int | float:
    sign = -1 if cursor.accept_one("-", "+") == "-" else 1
    token = cursor.take()
    text = token.text.replace("_", "")
    if text.isdigit():
        if len(text) > MOST_DIGITS:
            raise Fault("this number is too long", token.start)
        return sign * int(text)
    return sign * float(text)


def properties(cursor: Cursor) -> Properties:
    """Parses (key = value, 'a.b' = 'x'); the values are strings, as in catalogs."""
    return cursor.listed(_property) if not cursor.accept("(", ")") else ()


def _property(cursor: Cursor) -> tuple[str, str]:
    key = key_name(cursor, "a property")
    cursor.accept_one("=", "=>")
    return key, property_value(cursor, key)


def property_value(cursor: Cursor, key: str) -> str:
    """Parses the value of a property, which is redacted if its key looks like that of a secret."""
    first = cursor.at
    value = literal(cursor)
    hide(cursor, cursor.span_from(first), harmless=not_secret(key))
    return as_text(value)


def as_text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def property_keys(cursor: Cursor) -> tuple[str, ...]:
    """('a', b.c)"""
    return cursor.listed(lambda c: key_name(c, "a property"))


def check_once(keys: list[str], cursor: Cursor) -> None:
    duplicates = sorted({k for k in keys if keys.count(k) > 1})
    if duplicates:
        raise cursor.fault(
            "an option is given twice"
        )  # without the key: a misplaced quote makes a secret look like one
