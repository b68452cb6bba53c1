"""JSON texts: parsing with exact numbers, paths, and the parts that paths select.

A text is parsed by Python's C scanner, and a part of it is a slice of the text: numbers keep their digits, and a result
is never longer than its text. Nesting and the number of values are limited before a text is parsed. A text of many
values is parsed by Python's own scanner, since its C scanner keeps all other threads waiting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple, NoReturn

from pinakes.core.errors import ExecutionError, InvalidArgument, NotSupportedError

MOST_NESTED = 500
"""Levels of arrays and objects in a text: half of Python's limit, which its scanner counts, too."""
MOST_NESTED_OF_MANY = 300
"""The same of a text of many values: Python's scanner has two calls for each level."""
MOST_VALUES = 1_000_000
"""Values in a text, each of which takes some 70 bytes and a microsecond."""
_MANY = 20_000
MOST_STEPS = 64
"""Steps of a path, each of which may scan the text once."""
_SHOWN = 40


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class Step(NamedTuple):
    """One step of a path: the key for an object, and the position for an array; None where it selects nothing. A step
    of `all_by_path` selects all elements of an array if `every` is a bracket, and all members of an object for a brace.
    """

    key: str | None
    position: int | None
    every: str = ""


Steps = tuple[Step, ...]
MISSING: Final = object()


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


_DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=_refuse_constant)
_FAIR = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=_refuse_constant)
_FAIR.scan_once = py_make_scanner(_FAIR)  # type: ignore[attr-defined]
_Scan = Callable[[str, int], tuple[Any, int]]
_BLANK = frozenset(" \t\n\r")
_BLANKS = re.compile(r"[ \t\n\r]*")
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)


def parse(text: str) -> Any:
    """Returns dictionaries, lists, texts, `Number`, booleans and None. Of equal keys the last one counts."""
    many = _has_many(text)
    most = MOST_NESTED_OF_MANY if many else MOST_NESTED
    if many or text.count("[") + text.count("{") > most:
        _check_depth(text, most)
    try:
        return (_FAIR if many else _DECODER).decode(text)
    except json.JSONDecodeError as e:
        raise ExecutionError(f"invalid JSON: {e.msg} at character {e.pos + 1} of {_shorten(text)}") from None
    except RecursionError:
        raise _too_deep(most) from None
    except ValueError as e:
        raise ExecutionError(f"invalid JSON: {e}: {_shorten(text)}") from None


_TOO_MUCH = "JSON with more than "


def _too_deep(most: int) -> ExecutionError:
    return ExecutionError(f"{_TOO_MUCH}{most} levels of arrays and objects is not supported")


def _has_many(text: str) -> bool:
    """Returns whether a text may have many values; raises ExecutionError if they are too many."""
    if len(text) <= _MANY:
        return False
    count = text.count(",") + text.count("[") + text.count("{")
    if count > MOST_VALUES:
        raise ExecutionError(f"{_TOO_MUCH}{MOST_VALUES:,} values is not supported: {_shorten(text)}")
    return count > _MANY


def _scan_of(text: str) -> _Scan:
    found: _Scan = (_FAIR if _has_many(text) else _DECODER).scan_once  # type: ignore[attr-defined]
    return found


def _check_depth(text: str, most: int) -> None:
    depth = 0
    for found in _BRACKETS.finditer(text):
        character = found.group()
        depth += (character in "[{") - (character in "]}")
        if depth > most:
            raise _too_deep(most)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def is_valid(text: str) -> bool:
    try:
        parse(text)
    except ExecutionError as e:
        if e.message.startswith(_TOO_MUCH):
            raise
        return False
    return True


# --- parts -----------------------------------------------------------------------------------------------------------


def take(value: Any, step: Step) -> Any:
    """Returns the element or member of a parsed value; `MISSING` if there is none."""
    if isinstance(value, dict):
        return MISSING if step.key is None else value.get(step.key, MISSING)
    if isinstance(value, list) and step.position is not None and -len(value) <= step.position < len(value):
        return value[step.position]
    return MISSING


def follow(value: Any, steps: Steps) -> Any:
    for step in steps:
        value = take(value, step)
        if value is MISSING:
            break
    return value


def part(text: str, steps: Steps) -> str | None:
    """Returns the JSON that a path selects, as it is written; None if there is none."""
    value = follow(parse(text), steps)
    return None if value is MISSING else written(text, value, steps)


def part_text(text: str, steps: Steps) -> str | None:
    """Returns the text of a JSON string, and any other value as it is written; None also for null."""
    value = follow(parse(text), steps)
    if value is MISSING or value is None:
        return None
    return as_text(text, value) if isinstance(value, str) else written(text, value, steps)


def scalar_text(text: str, steps: Steps) -> str | None:
    """Returns the text of a value that is neither an array nor an object nor null."""
    value = follow(parse(text), steps)
    if value is MISSING or value is None or isinstance(value, dict | list):
        return None
    return as_text(text, value) if isinstance(value, str) else written(text, value, steps)


def all_parts(text: str, steps: Steps) -> list[str]:
    """Returns all JSON that a path with wildcards selects, as it is written."""
    return [text[start:end] for start, end in _all_spans(text, steps)]


def all_part_texts(text: str, steps: Steps) -> list[str | None]:
    """Returns the same as texts; None for null."""
    found, scan = list[str | None](), _scan_of(text)
    for start, end in _all_spans(text, steps):
        value = scan(text, start)[0] if text[start] in '"n' else text[start:end]
        found.append(None if value is None else as_text(text, value))
    return found


def _all_spans(text: str, steps: Steps) -> list[tuple[int, int]]:
    """Each step goes once over the text."""
    parse(text)
    scan = _scan_of(text)
    spans = [(_skip(text, 0), len(text.rstrip(" \t\n\r")))]
    for step in steps:
        following = list[tuple[int, int]]()
        for start, _ in spans:
            if text[start] == "{" and step.every == "{":
                following += [(begin, stop) for _, begin, stop in _members(text, start, scan)]
            elif text[start] == "{" and step.key is not None:
                following += [(begin, stop) for key, begin, stop in _members(text, start, scan) if key == step.key][-1:]
            elif text[start] == "[" and step.every == "[":
                following += _elements(text, start, scan)
            elif text[start] == "[" and step.position is not None:
                elements = list(_elements(text, start, scan))
                if -len(elements) <= step.position < len(elements):
                    following.append(elements[step.position])
        spans = following
    return spans


def as_text(text: str, value: str) -> str:
    """Returns the characters of a JSON string of the text."""
    if "\\u" in text:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ExecutionError(f"a JSON string has half of a surrogate pair: {_shorten(text)}") from None
    return str(value)


_WORDS = {True: "true", False: "false", None: "null"}


def written(text: str, value: Any, steps: Steps) -> str:
    """Returns a parsed value as it is written in the text."""
    if isinstance(value, Number):
        return str(value)
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, str) and "\\" not in text:
        return f'"{value}"'
    start, end = _span(text, steps)
    return text[start:end]


def _span(text: str, steps: Steps) -> tuple[int, int]:
    """Returns where the value of a path is, which exists."""
    start, scan = _skip(text, 0), _scan_of(text)
    end = len(text.rstrip(" \t\n\r"))
    for step in steps:
        if text[start] == "{":
            spans = [(begin, stop) for key, begin, stop in _members(text, start, scan) if key == step.key]
            start, end = spans[-1]
        else:
            start, end = list(_elements(text, start, scan))[step.position or 0]
    return start, end


def _skip(text: str, at: int) -> int:
    if text[at : at + 1] not in _BLANK:  # most values have no blank before them
        return at
    found = _BLANKS.match(text, at)
    assert found is not None
    return found.end()


def _members(text: str, at: int, scan: _Scan) -> Iterator[tuple[str, int, int]]:
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, _skip(text, at + (text[at] == ",")) + 1, True)
        start = _skip(text, _skip(text, at) + 1)
        _, end = scan(text, start)
        yield key, start, end
        at = _skip(text, end)


def _elements(text: str, at: int, scan: _Scan) -> Iterator[tuple[int, int]]:
    at = _skip(text, at + 1)
    while text[at] != "]":
        start = _skip(text, at + (text[at] == ","))
        _, end = scan(text, start)
        yield start, end
        at = _skip(text, end)


def elements(text: str) -> list[str]:
    """Returns the elements of an array, as they are written."""
    _array(text, "take the elements")
    return [text[start:end] for start, end in _elements(text, _skip(text, 0), _scan_of(text))]


def element_texts(text: str) -> list[str | None]:
    """Returns the elements of an array as texts."""
    values = _array(text, "take the elements")
    raw = [text[start:end] for start, end in _elements(text, _skip(text, 0), _scan_of(text))]
    return [
        None if value is None else as_text(text, value) if isinstance(value, str) else one
        for value, one in zip(values, raw, strict=True)
    ]


def array_length(text: str) -> int:
    return len(_array(text, "take the length"))


def _array(text: str, doing: str) -> list[Any]:
    value = parse(text)
    if not isinstance(value, list):
        raise ExecutionError(f"cannot {doing} of a JSON {_kind(value)}, only of an array: {_shorten(text)}")
    return value


def keys(text: str) -> list[str]:
    """Returns the keys of an object; none of another value."""
    value = parse(text)
    return [as_text(text, key) for key in value] if isinstance(value, dict) else []


def object_keys(text: str) -> list[str]:
    value = parse(text)
    if not isinstance(value, dict):
        raise ExecutionError(f"cannot take the keys of a JSON {_kind(value)}, only of an object: {_shorten(text)}")
    return [as_text(text, key) for key in value]


# --- types -----------------------------------------------------------------------------------------------------------


def _kind(value: Any) -> str:
    """Returns PostgreSQL's name of a type."""
    match value:
        case dict():
            return "object"
        case list():
            return "array"
        case Number():
            return "number"
        case str():
            return "string"
        case None:
            return "null"
    return "boolean"


def type_of(text: str) -> str:
    return _kind(parse(text))


_DUCKDB = {"object": "OBJECT", "array": "ARRAY", "string": "VARCHAR", "boolean": "BOOLEAN", "null": "NULL"}
_INTEGER_DIGITS = 20


def storage_type(text: str, steps: Steps = ()) -> str | None:
    """Returns DuckDB's name of a type."""
    value = follow(parse(text), steps)
    if value is MISSING:
        return None
    if not isinstance(value, Number):
        return _DUCKDB[_kind(value)]
    if len(value) > _INTEGER_DIGITS or not value.removeprefix("-").isdigit():
        return "DOUBLE"
    number = int(value)
    if value.startswith("-"):
        return "BIGINT" if number >= -(2**63) else "DOUBLE"
    return "UBIGINT" if number < 2**64 else "DOUBLE"


# --- paths -----------------------------------------------------------------------------------------------------------

_INDEX = re.compile(r"-?[0-9]{1,9}")
_STEP = re.compile(
    r"""\s*(?: \.\s*(?: "((?:[^"\\]|\\.)*)" | ([^\s.\["*?()@]+) )
      | \[\s*(?: (\#-|-)?([0-9]{1,9}) | "((?:[^"\\]|\\.)*)" )\s*\] )""",
    re.VERBOSE | re.DOTALL,
)


_EVERY = re.compile(r"\s*(?:(\[)\s*\*\s*\]|\.\s*\*)")


@lru_cache(maxsize=1024)
def by_key(key: str) -> Steps:
    """Returns the step of a key. A path such as $.a[0] is read as in DuckDB: no key looks like that."""
    return by_path(key) if key.startswith(("$.", "$[")) else (Step(key, None),)


_EVERY = re.compile(r"\s*(?:(\[)\s*\*\s*\]|\.\s*\*)")


@lru_cache(maxsize=1024)
def by_keys(path: str) -> Steps | None:
    """Returns the steps of a JSON array of texts, each a key or an index; None if one of them is null."""
    names = parse(path)
    if any(name is None for name in names):
        return None
    return _limited(tuple(Step(name, int(name) if _INDEX.fullmatch(name) else None) for name in names))


@lru_cache(maxsize=1024)
def by_path(path: str) -> Steps:
    """Returns the steps of $.a[0], of the pointer /a/0, or of a plain key."""
    if path.startswith("$"):
        return _steps(path, path[1:])
    if path.startswith("/"):
        names = [name.replace("~1", "/").replace("~0", "~") for name in path[1:].split("/")]
        return _limited(tuple(Step(name, int(name) if name.isdecimal() and len(name) < 10 else None) for name in names))
    return (Step(path, None),) if path else ()


@lru_cache(maxsize=1024)
def all_by_path(path: str) -> Steps:
    """Returns the steps of a path with wildcards: $.a[*].b, $.*"""
    return _steps(path, path[1:], has_wildcards=True)


class StandardPath(NamedTuple):
    """A path of SQL/JSON; if it is `lax`, a key is also looked for in the elements of an array."""

    steps: Steps
    lax: bool


@lru_cache(maxsize=1024)
def standard_path(path: str) -> StandardPath:
    mode, _, rest = path.strip().partition(" ")
    is_mode = mode in ("lax", "strict")
    rest = rest.strip() if is_mode else path.strip()
    if not rest.startswith("$"):
        raise InvalidArgument(f"a JSON path starts with $, as '$.name[0]', not {_shorten(path)}")
    return StandardPath(_steps(path, rest[1:]), mode != "strict")


def _steps(path: str, rest: str, *, has_wildcards: bool = False) -> Steps:
    found, at = list[Step](), 0
    while at < len(rest.rstrip()):
        every = _EVERY.match(rest, at) if has_wildcards else None
        if every is not None:
            found.append(Step(None, None, "[" if every[1] else "{"))
            at = every.end()
            continue
        step = _STEP.match(rest, at)
        if step is None:
            raise NotSupportedError(
                f"the JSON path {_shorten(path)} is not supported: write keys and indexes, as '$.name[0].\"two words\"'"
            )
        quoted, plain, sign, index, bracketed = step.groups()
        if index is not None:
            found.append(Step(None, -int(index) if sign else int(index)))
            if sign and not int(index):
                found[-1] = Step(None, None)  # one after the last
        else:
            found.append(
                Step(plain if plain is not None else _unescaped(quoted if quoted is not None else bracketed), None)
            )
        at = step.end()
    return _limited(tuple(found))


def _unescaped(key: str) -> str:
    try:
        return str(json.loads(f'"{key}"'))
    except ValueError:
        raise InvalidArgument(f"the key {_shorten(key)} of a JSON path can't be read") from None


def _limited(steps: Steps) -> Steps:
    if len(steps) > MOST_STEPS:
        raise NotSupportedError(f"a JSON path with more than {MOST_STEPS} steps is not supported: use two calls")
    return steps


def _selected(value: Any, path: StandardPath) -> tuple[Any, Steps] | None:
    """Returns the one item that a path of SQL/JSON selects, and the steps to it; None if it is none or several."""
    items: list[tuple[Any, Steps]] = [(value, ())]
    for step in path.steps:
        following = list[tuple[Any, Steps]]()
        for item, steps in items:
            if path.lax and step.key is not None and isinstance(item, list):
                candidates = [(one, (*steps, Step(None, at))) for at, one in enumerate(item)]
            else:
                candidates = [(item, steps)]
            for one, above in candidates:
                if path.lax and step.position == 0 and not isinstance(one, list):
                    following.append((one, above))
                elif step.position is None or step.position >= 0:
                    found = take(one, step)
                    following += [] if found is MISSING else [(found, (*above, step))]
        items = following
    return items[0] if len(items) == 1 else None


def standard_value(text: str, path: StandardPath) -> str | None:
    """JSON_VALUE: the text of a scalar; NULL for any other result."""
    found = _selected(parse(text), path)
    if found is None or found[0] is None or isinstance(found[0], dict | list):
        return None
    value, steps = found
    return as_text(text, value) if isinstance(value, str) else written(text, value, steps)


def standard_query(text: str, path: StandardPath) -> str | None:
    """JSON_QUERY: the JSON of one item; NULL for none or several."""
    found = _selected(parse(text), path)
    return None if found is None else written(text, *found)
