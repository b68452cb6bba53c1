"""Functions of texts and binaries."""

from __future__ import annotations

import re

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import text_literal
from pinakes.parser.functions import ALL_EXTRACTED, EXTRACTED
from pinakes.parser.functions.lists import unknown
from pinakes.parser.functions.rule import Arguments, Rule, check_plain, constant, renamed, template
from pinakes.parser.typed import WEIGHED, bounds
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.texts import written
from pinakes.parser.typed.values import Value, is_decimal, is_integer, is_nested, is_text
from pinakes.parser.typed.writer import Writer

_SPLIT = template(
    "(CASE WHEN {0} = '' THEN [''] WHEN {1} = '' THEN string_to_array({0}, CAST(NULL AS VARCHAR)) "
    "WHEN {1} IS NULL THEN CASE WHEN {0} IS NOT NULL THEN [{0}] END ELSE string_to_array({0}, {1}) END)"
)


def _extracted(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """regexp_extract(text, pattern [, group [, options]]), and all matches."""
    check_plain(node)
    if not 2 <= len(arguments) <= 4:
        raise InvalidArgument(f"{node.name} takes 2, 3 or 4 arguments, not {len(arguments)}")
    group, options = "0", "''"
    if len(arguments) > 2:
        number = arguments[2][0]
        if not isinstance(number, n.Number) or not number.text.isdigit():
            raise NotSupportedError(f"{node.name} takes the number of a group as a constant only")
        group = number.text
    if len(arguments) > 3:
        given = constant(writer, node, arguments[3][0], "options")
        if set(given) - set("cis"):
            raise NotSupportedError(f"{node.name} takes the options c, i and s, not {given!r}")
        options = text_literal(given.replace("c", ""))
    subject, pattern = bounds.with_pattern(writer, list(arguments[:2]))
    if node.name == "regexp_extract_all":  # each match is marked first
        subject = subject[0], bounds.weighed(writer, *subject, 8)
    name, type = (EXTRACTED, pa.string()) if node.name == "regexp_extract" else (ALL_EXTRACTED, pa.list_(pa.string()))
    return Value(f'"{name}"({writer.text(*subject)}, {writer.text(*pattern)}, {group}, {options})', type)


def _hex(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    check_plain(node)
    if len(arguments) != 1:
        raise InvalidArgument(f"{node.name} takes 1 argument, not {len(arguments)}")
    (operand, value), type = arguments[0], arguments[0][1].type
    if type is None:
        raise unknown(node)
    if is_integer(type):
        return Value(f"upper(to_hex({writer.text(operand, value)}))", pa.string())
    text = writer.text(operand, bounds.weighed(writer, operand, value, 2))
    return Value(f"upper(encode({text}, 'hex'))", pa.string())


# --- printf and format -------------------------------------------------------------------------------------------

_MOST_PARTS = 200
"""Places in a format, with the texts between them."""
_PRINTF = re.compile(r"%(?:%|([-0]?)(\d{0,2})([sdi])|.)", re.DOTALL)
_BRACES = re.compile(r"\{\{|\}\}|\{(\d*)\}|[{}]")
_PLACES = re.compile(r"%(?:%|(?:(\d+)\$)?s|.)", re.DOTALL)


def _text_of(writer: Writer, node: n.Call, argument: tuple[n.Node, Value]) -> str:
    child, value = argument
    if value.type is None:
        raise unknown(node)
    if is_nested(value.type):
        raise NotSupportedError(f"{node.name} of lists and structs is not supported: write CAST(… AS VARCHAR)")
    text = writer.text(child, written(writer, child, value))
    return text if is_text(value.type) else f"CAST({text} AS VARCHAR)"


def _joined(writer: Writer, parts: list[str], *, empty: bool = False) -> Value:
    """Returns texts one after the other; `empty`: NULL is an empty text, otherwise the result is NULL."""
    texts = [part for part in parts if part != "''"] or ["''"]
    if len(texts) > _MOST_PARTS:
        raise NotSupportedError(f"formats with more than {_MOST_PARTS} parts are not supported: write several calls")
    checked = [f'"{WEIGHED}"({part}, {len(texts)}, {1 << 62})' if part[0] != "'" else part for part in texts]
    return Value(f"concat({', '.join(checked)})" if empty else _balanced(checked), pa.string())


def _balanced(texts: list[str]) -> str:
    """Returns texts one after the other, in brackets of little depth: DataFusion recurses once for each."""
    if len(texts) == 1:
        return texts[0]
    middle = len(texts) // 2
    return f"({_balanced(texts[:middle])} || {_balanced(texts[middle:])})"


def _taken(node: n.Call, values: Arguments, at: int) -> tuple[n.Node, Value]:
    if at >= len(values):
        raise InvalidArgument(f"the format of {node.name} needs at least {at + 1} values, not {len(values)}")
    return values[at]


def _printf(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """printf of %s, %d and %i with a width. The result is NULL if a value is NULL, as in DuckDB."""
    check_plain(node)
    if not arguments:
        raise InvalidArgument("printf needs a format")
    format, values = constant(writer, node, arguments[0][0], "a format"), arguments[1:]
    parts, at, used = list[str](), 0, 0
    for found in _PRINTF.finditer(format):
        parts.append(text_literal(format[at : found.start()]))
        at = found.end()
        flag, width, kind = found.groups()
        if found[0] == "%%":
            parts.append("'%'")
            continue
        if kind is None:
            raise NotSupportedError(
                f"printf supports %s and %d with a width, not {found[0]!r}: write round(…) or to_char(…) for others"
            )
        child, value = _taken(node, values, used)
        used += 1
        if kind != "s" and not is_integer(value.type):
            raise InvalidArgument(f"%{kind} of printf takes an integer: write CAST(… AS BIGINT)")
        if kind == "s" and not is_text(value.type):
            raise InvalidArgument("%s of printf takes a text: write %d for an integer, or CAST(… AS VARCHAR)")
        text = _text_of(writer, node, (child, value))
        if flag == "0" and width and kind != "s":
            sign = f"(CASE WHEN {writer.text(child, value)} < 0 THEN '-' ELSE '' END)"
            digits = f"ltrim({text}, '-')"
            fill = f"greatest(0, {int(width)} - character_length({text}))"
            text = f"({sign} || repeat('0', {fill}) || {digits})"
        elif width:
            fill = f"repeat(' ', greatest(0, {int(width)} - character_length({text})))"
            text = f"({text} || {fill})" if flag == "-" else f"({fill} || {text})"
        parts.append(text)
    parts.append(text_literal(format[at:]))
    return _joined(writer, parts)


def _format(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """format('{} {}', …) of DuckDB, format('%s %s', …) of PostgreSQL, in which NULL is an empty text."""
    check_plain(node)
    if not arguments:
        raise InvalidArgument("format needs a format")
    format, values = constant(writer, node, arguments[0][0], "a format"), arguments[1:]
    is_duckdb = "{" in format and re.search(r"%(?:\d+\$)?s", format) is None
    parts, at, used = list[str](), 0, 0
    for found in (_BRACES if is_duckdb else _PLACES).finditer(format):
        parts.append(text_literal(format[at : found.start()]))
        at = found.end()
        if found[0] in ("{{", "}}", "%%"):
            parts.append(text_literal(found[0][0]))
            continue
        is_place = found[0][-1] == ("}" if is_duckdb else "s") and len(found[0]) > 1
        if not is_place:
            raise NotSupportedError(f"format supports {{}}, {{0}} and %s, not {found[0]!r}")
        if used < 0 and not found[1]:
            raise InvalidArgument("format takes either {} or {0} in a format, not both")
        number = int(found[1]) - (not is_duckdb) if found[1] else used
        if is_duckdb and found[1] and used > 0:
            raise InvalidArgument("format takes either {} or {0} in a format, not both")
        used = number + 1 if not (is_duckdb and found[1]) else -1
        if number < 0:
            raise InvalidArgument("the values of format are counted from 1")
        child, value = _taken(node, values, number)
        if is_duckdb and not (is_integer(value.type) or is_decimal(value.type) or is_text(value.type)):
            raise NotSupportedError("format supports {} for integers, decimals and texts: write CAST(… AS VARCHAR)")
        parts.append(_text_of(writer, node, (child, value)))
    parts.append(text_literal(format[at:]))
    return _joined(writer, parts, empty=not is_duckdb)


# --- addresses ---------------------------------------------------------------------------------------------------

_URL = {
    "protocol": (r"^([A-Za-z][A-Za-z0-9+.-]*):", "https", "scheme"),
    "host": (r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^:/?#]*)", "a.example", "host"),
    "path": (r"^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/?#]*)?([^?#]*)", "/b", "path"),
    "query": (r"^[^?#]*\?([^#]*)", "c=1", "query"),
    "fragment": (r"^[^#]*#(?s:(.*))$", "d", "fragment"),
}


def _url(part: str) -> Rule:
    pattern, _, what = _URL[part]
    return Rule(
        f"url_extract_{part}(url)",
        "varchar",
        "varchar",
        f"The {what} of a URL as it is written, without decoding; an empty text if there is none.",
        f"SELECT url_extract_{part}('https://a.example:80/b?c=1#d')",
        template(f"regexp_extract({{0}}, {text_literal(pattern)}, 1)"),
    )


_PORT = text_literal(r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(?:\[[^\]/?#]*\]|[^:/?#]*):([0-9]{1,5})(?:[/?#]|$)")


def _splitting(name: str) -> Rule:
    return Rule(
        f"{name}(text, separator)",
        "varchar, varchar",
        "list of varchar",
        "The parts of a text between separators; an empty separator gives its characters.",
        f"SELECT {name}('a,b', ',')",
        _SPLIT,
    )


RULES = {
    **{name: _splitting(name) for name in ("split", "str_split", "string_split")},
    **{
        name: Rule(
            f"{name}(text)",
            "varchar",
            "varbinary",
            "The bytes of a text in hexadecimal.",
            f"SELECT {name}('4142')",
            template("decode({0}, 'hex')"),
        )
        for name in ("from_hex", "unhex")
    },
    "hex": Rule(
        "hex(x)",
        "integer, text or bytes",
        "varchar",
        "A number or the bytes of a value in hexadecimal, in upper case.",
        "SELECT hex('AB')",
        typed=_hex,
    ),
    **{
        name: Rule(
            f"{name}(x)",
            "text or bytes",
            "varchar",
            "A text or bytes in base 64, with padding.",
            f"SELECT {name}('abc')",
            template("encode({0}, 'base64pad')"),
        )
        for name in ("to_base64", "base64")
    },
    "from_base64": Rule(
        "from_base64(text)",
        "varchar",
        "varbinary",
        "The bytes of a text in base 64 with padding.",
        "SELECT from_base64('YWJj')",
        template("decode({0}, 'base64pad')"),
    ),
    "prefix": Rule(
        "prefix(text, start)",
        "varchar, varchar",
        "boolean",
        "Whether a text starts with another; as starts_with.",
        "SELECT prefix('abc', 'ab')",
        renamed("starts_with"),
    ),
    "suffix": Rule(
        "suffix(text, end)",
        "varchar, varchar",
        "boolean",
        "Whether a text ends with another; as ends_with.",
        "SELECT suffix('abc', 'bc')",
        renamed("ends_with"),
    ),
    "regexp_matches": Rule(
        "regexp_matches(text, pattern [, options])",
        "varchar, varchar, varchar",
        "boolean",
        "Whether a regular expression matches a part of a text, as in DuckDB.",
        "SELECT regexp_matches('abc', 'b.')",
        renamed("regexp_like"),
    ),
    "regexp_extract": Rule(
        "regexp_extract(text, pattern [, group [, options]])",
        "varchar, varchar, integer, varchar",
        "varchar",
        "The first match of a regular expression or one of its groups; an empty text if there is none.",
        "SELECT regexp_extract('a1b22', '([a-z])([0-9]+)', 2)",
        typed=_extracted,
    ),
    "regexp_extract_all": Rule(
        "regexp_extract_all(text, pattern [, group [, options]])",
        "varchar, varchar, integer, varchar",
        "list of varchar",
        "All matches of a regular expression, or one group of each.",
        "SELECT regexp_extract_all('a1b22', '[0-9]+')",
        typed=_extracted,
    ),
    "printf": Rule(
        "printf(format, x, …)",
        "varchar, any, …",
        "varchar",
        "A text with values in the places of %s and %d, which may have a width; NULL if a value is NULL.",
        "SELECT printf('%s: %05d', 'a', 42)",
        typed=_printf,
    ),
    "format": Rule(
        "format(format, x, …)",
        "varchar, any, …",
        "varchar",
        "A text with values in the places of {} or {0} (DuckDB, NULL if a value is NULL) or of %s (PostgreSQL, NULL is "
        "an empty text).",
        "SELECT format('{} and {}', 1, 'b')",
        typed=_format,
    ),
    **{f"url_extract_{part}": _url(part) for part in _URL},
    "url_extract_port": Rule(
        "url_extract_port(url)",
        "varchar",
        "bigint",
        "The port in a URL; NULL if there is none.",
        "SELECT url_extract_port('https://a.example:80/b')",
        template(f"CAST(nullif(regexp_extract({{0}}, {_PORT}, 1), '') AS BIGINT)"),
    ),
}
