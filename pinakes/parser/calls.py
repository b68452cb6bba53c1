"""Table functions of pinakes, FROM read_csv('a.csv', delim => ';'), FROM system.metadata.search('words'), and of
catalogs, FROM mydb.main.fn(10). They are found among the tokens and parsed here.

sqlglot sees each call as one quoted name, so that its arguments are not taken for columns; `tables.py` attaches the
call to its table. Arguments are literals and parameters; the engine resolves functions and options.
"""

from __future__ import annotations

from collections.abc import Mapping

from pinakes.parser.catalog_calls import dotted_calls, has_dotted_call, name_at
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.lexer import Token
from pinakes.parser.options import literal
from pinakes.parser.statements import Bound, CatalogCall, FileArgument, FileCall, SearchCall, Span, TableCall

READERS: Mapping[str, str] = {
    **dict.fromkeys(("READ_PARQUET", "PARQUET_SCAN"), "parquet"),
    **dict.fromkeys(("READ_CSV", "READ_CSV_AUTO"), "csv"),
    **dict.fromkeys(("READ_JSON", "READ_JSON_AUTO", "READ_NDJSON", "READ_NDJSON_AUTO"), "json"),
    **dict.fromkeys(("READ_ARROW", "READ_IPC", "READ_FEATHER"), "arrow"),
    "READ_AVRO": "avro",
    "READ_ORC": "orc",
    **dict.fromkeys(("READ_XLSX", "READ_EXCEL"), "excel"),
}
"""Functions that read files, with the format of each."""

_SEARCH = ("SYSTEM", ".", "METADATA", ".", "SEARCH")

_BEFORE = frozenset({"FROM", "JOIN", "USING", "LATERAL", ",", "("})
_DEEPEST = 20


def take_calls(text: str, tokens: list[Token]) -> tuple[list[Token], dict[int, TableCall]]:
    """Returns the tokens with each call as one quoted name, and the calls by their start offset."""
    kept: list[Token] = []
    found: dict[int, TableCall] = {}
    cursor = Cursor(text, tokens)
    dotted = {call.first for call in dotted_calls(tokens) if call.gives_rows} if has_dotted_call(tokens) else set()
    while not cursor.ended():
        token = cursor.peek()
        if cursor.at in dotted or (_is_ours(cursor) and kept and kept[-1].word in _BEFORE):
            call = _call(cursor)
            found[token.start] = call
            kept.append(Token("quoted", call.name, "", call.span.start, call.span.end))
        else:
            kept.append(cursor.take())
    return kept, found


def is_call(cursor: Cursor) -> bool:
    """Returns whether such a call starts here."""
    return _is_ours(cursor) or _bracket(cursor) > cursor.at + 1


def _is_ours(cursor: Cursor) -> bool:
    return _is_search(cursor) or (cursor.word in READERS and cursor.peek(1).word == "(")


def _bracket(cursor: Cursor) -> int:
    """Returns the index of the opening bracket of a call with a qualified name that starts here; else 0."""
    at = cursor.at
    while cursor.tokens[at : at + 1] and cursor.tokens[at].kind in ("word", "quoted"):
        if at + 1 < len(cursor.tokens) and cursor.tokens[at + 1].word == "(":
            return at + 1
        if at + 1 >= len(cursor.tokens) or cursor.tokens[at + 1].word != ".":
            return 0
        at += 2
    return 0


def _is_search(cursor: Cursor) -> bool:
    return all(cursor.peek(at).word == word for at, word in enumerate((*_SEARCH, "(")))


def _call(cursor: Cursor) -> TableCall:
    """name ( argument, …, option => value | option = value | option := value, … )"""
    first = cursor.at
    searches, bracket = _is_search(cursor), _bracket(cursor)
    cursor.at = bracket - 1
    name = cursor.take().text.lower()
    cursor.expect("(")
    arguments: list[FileArgument] = []
    options: dict[str, FileArgument] = {}
    while cursor.word != ")":
        if cursor.peek().kind == "word" and cursor.peek(1).word in ("=>", "=", ":="):
            _option(cursor, options)
        elif options:
            raise cursor.fault("expected an option: arguments without a name come before the options")
        else:
            arguments.append(_argument(cursor))
        if cursor.word != ")" and not cursor.accept(","):
            raise cursor.fault("expected , or )")
    cursor.expect(")")
    span = cursor.span_from(first)
    if searches:
        return SearchCall(name, tuple(arguments), tuple(options.items()), span)
    if bracket > first + 1:
        path = name_at(cursor.tokens, first, bracket)
        return CatalogCall(path, tuple(arguments), tuple(options.items()), span)
    return FileCall(name, READERS[name.upper()], tuple(arguments), tuple(options.items()), span)


def _option(cursor: Cursor, options: dict[str, FileArgument]) -> None:
    token = cursor.take()
    key = token.text.lower()
    if key in options:
        raise Fault(f"the option {key} is given twice", token.start)
    cursor.take()
    options[key] = _argument(cursor)


def _argument(cursor: Cursor, depth: int = 0) -> FileArgument:
    """A literal, a parameter, [a, b], {'name': value} or MAP {'name': value}"""
    if depth > _DEEPEST:
        raise cursor.fault("this value is nested too deep")
    token = cursor.peek()
    if token.kind == "parameter":
        cursor.take()
        return Bound(Span(token.start, token.end))
    if token.word in ("ARRAY", "MAP") and cursor.peek(1).word in ("[", "{"):
        cursor.take()
    if cursor.accept("["):
        return _list(cursor, depth)
    if cursor.accept("{"):
        return _struct(cursor, depth)
    if token.kind == "word" and (cursor.peek(1).word == "(" or token.word == "SELECT"):
        raise cursor.fault("expected a constant or a parameter")
    return literal(cursor)


def _list(cursor: Cursor, depth: int) -> tuple[FileArgument, ...]:
    found: list[FileArgument] = []
    while cursor.word != "]":
        found.append(_argument(cursor, depth + 1))
        if cursor.word != "]":
            cursor.expect(",")
    cursor.expect("]")
    return tuple(found)


def _struct(cursor: Cursor, depth: int) -> dict[str, FileArgument]:
    found: dict[str, FileArgument] = {}
    while cursor.word != "}":
        token = cursor.peek()
        if token.kind not in ("word", "quoted", "string"):
            raise cursor.fault("expected a name")
        cursor.take()
        cursor.expect_one(":", "=", ":=")
        if token.text in found:
            raise Fault(f"{token.text!r} is there twice", token.start)
        found[token.text] = _argument(cursor, depth + 1)
        if cursor.word != "}":
            cursor.expect(",")
    cursor.expect("}")
    return found
