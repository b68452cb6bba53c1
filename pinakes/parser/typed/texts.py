"""Conversions of texts to times and intervals, and of times to texts, as in PostgreSQL.

DataFusion 55 writes 2024-01-01T00:00:01.500 for 2024-01-01 00:00:01.5, and ignores the length of VARCHAR(3). It reads
an interval without a unit as months, a time without colons as nanoseconds, and applies the zone in the text of a
TIMESTAMP or DATE. A text that is cast to a list would become its only element.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError, TypeMismatch
from pinakes.core.names import text_literal
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.parser.functions import UUID_TEXT
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import Value, is_duration, is_interval, is_text, is_time, is_timestamp
from pinakes.parser.workarounds.writing import is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

TEXTS = frozenset({"VARCHAR", "TEXT", "STRING", "CHAR", "CHARACTER", "CHARACTER VARYING", "CHAR VARYING", "NVARCHAR"})
_DECIMALS = frozenset({"DECIMAL", "NUMERIC", "DEC"})
_EXPONENT = re.compile(r"\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]{1,2}\s*")
"""A number with an exponent, which DataFusion does not read as a decimal."""
_TIMES = frozenset({"TIME", "TIME WITHOUT TIME ZONE"})
_WITHOUT_ZONE = frozenset({"TIMESTAMP", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE", "DATE"})
_WITH_ZONE = frozenset({"TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"})

_ZONE = r"^(.*\d:\d\d.*?)\s*(?:[zZ]|[+-]\d\d(?::?\d\d)*|[A-Z]{3,5}|[A-Za-z]+/[A-Za-z_/]+)$"
MINUTES = r"^(\s*\d+-\d\d?-\d\d?[ T]\d\d?:\d\d)((?:\s*[zZ+-].*)?)$"
"""The text of a timestamp without seconds."""
UUID_FORM = "write 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12"
_NUMBER = r"^\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*$"
_ZEROS = r"(\.\d*[1-9])0+"


# --- texts become values ---------------------------------------------------------------------------------------------


def without_zone(text: str) -> str:
    """Returns the text of a timestamp without its time zone, which PostgreSQL ignores, and with seconds."""
    return with_seconds(re.sub(_ZONE, r"\1", text.strip()))


def with_seconds(text: str) -> str:
    """Returns the text of a timestamp with seconds, which DataFusion requires."""
    return re.sub(MINUTES, r"\1:00\2", text.strip())


def uuid_text(writer: Writer, node: n.Node, value: Value, *, strict: bool = True) -> Value:
    """Returns a text as a UUID in its canonical form. If not `strict`, another text is NULL."""
    if isinstance(node, n.Text) and strict:
        try:
            return Value(text_literal(str(UUID(node.value.strip()))), pa.string(), is_uuid=True)
        except ValueError:
            raise InvalidArgument(f"{node.value[:60]!r} is not a UUID: {UUID_FORM}") from None
    if value.type is not None and not is_text(value.type) and not pa.types.is_null(value.type):
        raise TypeMismatch(f"a cast of {sql_name_of_arrow(value.type)} to UUID is not supported: cast a text")
    if value.is_uuid:
        return Value(writer.text(node, value), value.type, is_uuid=True)
    return Value(f'"{UUID_TEXT}"({writer.text(node, value)}, {str(strict).lower()})', pa.string(), is_uuid=True)


def read_as(writer: Writer, node: n.Node, value: Value, type: n.TypeName) -> Value:
    """Converts the operand of a cast, so that a text has its meaning in PostgreSQL."""
    if "[]" in type.name:
        _refuse_no_list(writer, value)
        return value
    if not is_text(value.type):
        return value
    text = writer.text(node, value)
    if type.name in _WITHOUT_ZONE:
        if isinstance(node, n.Text):
            known = without_zone(node.value)
            return value if known == node.value else Value(text_literal(known), value.type)
        local = f"regexp_replace({text}, '{_ZONE}', '\\1')"
        return Value(local if type.name == "DATE" else f"regexp_replace({local}, '{MINUTES}', '\\1:00\\2')", value.type)
    if type.name in _WITH_ZONE:
        if isinstance(node, n.Text):
            known = with_seconds(node.value)
            return value if known == node.value else Value(text_literal(known), value.type)
        return Value(f"regexp_replace({text}, '{MINUTES}', '\\1:00\\2')", value.type)
    if type.name in _DECIMALS and isinstance(node, n.Text) and _EXPONENT.fullmatch(node.value):
        return Value(text_literal(f"{Decimal(node.value.strip()):f}"), value.type)
    if type.name == "INTERVAL":
        if isinstance(node, n.Text):
            is_number = re.match(_NUMBER, node.value)
            return Value(text_literal(f"{node.value.strip()} seconds"), value.type) if is_number else value
        return Value(
            f"(CASE WHEN {text} ~ '{_NUMBER}' THEN concat(trim({text}), ' seconds') ELSE {text} END)", value.type
        )
    if type.name in _TIMES and not (isinstance(node, n.Text) and ":" in node.value):
        # A text without a colon gets a blank, which makes it invalid.
        return Value(f"(CASE WHEN strpos({text}, ':') = 0 THEN concat({text}, ' ') ELSE {text} END)", value.type)
    return value


def _refuse_no_list(writer: Writer, value: Value) -> None:
    known = value.type
    if known is None or pa.types.is_null(known) or pa.types.is_nested(known):
        return
    instead = "regexp_match, string_to_array" if is_text(known) else "[x]"
    raise NotSupportedError(f"a cast to a list is only supported from a list: write {instead} instead")


# --- values become texts ---------------------------------------------------------------------------------------------


def written(writer: Writer, node: n.Node, value: Value) -> Value:
    """Returns a time as a text; other values are unchanged."""
    if not (is_timestamp(value.type) or is_time(value.type) or is_interval(value.type) or is_duration(value.type)):
        return value
    assert value.type is not None
    if is_interval(value.type) or is_duration(value.type):
        raise NotSupportedError(
            "an INTERVAL as text is not supported: write date_part('epoch', …), a number of seconds"
        )
    text = f"CAST({writer.text(node, value)} AS VARCHAR)"
    if is_time(value.type):
        return Value(f"regexp_replace({text}, '{_ZEROS}$', '\\1')", pa.string())
    text = f"replace({text}, 'T', ' ')"
    if value.type.tz is None:
        return Value(f"regexp_replace({text}, '{_ZEROS}$', '\\1')", pa.string())
    text = f"regexp_replace({text}, 'Z$', '+00:00')"
    text = f"regexp_replace({text}, '{_ZEROS}([+-])', '\\1\\2')"
    return Value(f"regexp_replace({text}, '([+-]\\d\\d):00$', '\\1')", pa.string())


def cut(text: str, type: n.TypeName) -> str:
    """Cuts a text to the length of its type."""
    return f"substr({text}, 1, {type.numbers[0]})" if len(type.numbers) == 1 else text


# --- characters --------------------------------------------------------------------------------------------------

_LONGEST = 300
"""Maximum characters of an operand that is duplicated in the text."""


def subscript(writer: Writer, node: n.Index, values: Sequence[tuple[n.Node, Value]]) -> Value:
    """Returns text[2] or text[2:3]: characters by their positions from 1, or from -1 backwards, as in DuckDB. What is
    outside of the text is left out.
    """
    texts = [writer.text(child, value) for child, value in values]
    if len(texts) != 2 + node.slices:
        raise NotSupportedError("a slice of a text has two bounds: text[2:3]")
    if not all(is_repeatable(child) and len(text) <= _LONGEST for (child, _), text in zip(values, texts, strict=True)):
        raise NotSupportedError("a subscript of such a long text is not supported: write substr(…)")
    text, *bounds = texts
    places = [
        f"(CASE WHEN {bound} < 0 THEN character_length({text}) + {bound} + 1 ELSE {bound} END)" for bound in bounds
    ]
    if not node.slices:
        return Value(f"substr({text}, {places[0]}, CASE WHEN {places[0]} < 1 THEN 0 ELSE 1 END)", pa.string())
    first = f"(CASE WHEN {places[0]} < 1 THEN 1 ELSE {places[0]} END)"
    length = f"CASE WHEN {places[1]} < {first} THEN 0 ELSE {places[1]} - {first} + 1 END"
    return Value(f"substr({text}, {first}, {length})", pa.string())
