"""JSON: the operators ->, ->>, #> and #>>, the functions, and casts to JSON.

A JSON value is a text. Its columns are known as JSON within a statement (`yields_json`), so that json_build_object and
the like take them as they are; a column of a table is a text. `engine/datafusion/json_functions.py` has the functions
that are written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError, TypeMismatch
from pinakes.core.names import quote, text_literal
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import BOOLEAN, INT64, MOST_ROWS, Value, is_integer, is_text
from pinakes.parser.workarounds.writing import bare

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Scope, Writer

GET, GET_TEXT, AT, AT_TEXT = "$json_get", "$json_get_text", "$json_at", "$json_at_text"
PATH, PATH_TEXT, TYPE_AT, LENGTH_AT = "$json_path", "$json_path_text", "$json_type_at", "$json_array_length_at"
ELEMENTS, ELEMENT_TEXTS, OBJECT_KEYS = "$json_elements", "$json_element_texts", "$json_object_keys"
PARSE, TRY_PARSE, FORMAT, VALID = "$json_parse", "$json_try_parse", "$json_format", "$json_valid"
TYPEOF, TYPE, LENGTH, KEYS = "$json_typeof", "$json_type", "$json_array_length", "$json_keys"
EXTRACT, EXTRACT_STRING, EXTRACT_SCALAR = "$json_extract", "$json_extract_string", "$json_extract_scalar"
EXTRACT_ALL, EXTRACT_ALL_TEXTS = "$json_extract_all", "$json_extract_all_texts"
VALUE, QUERY = "$json_value", "$json_query"

OPERATORS = frozenset({"->", "->>", "#>", "#>>"})
TYPES = frozenset({"JSON", "JSONB"})
_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
_BY_INDEX = {EXTRACT: AT, EXTRACT_STRING: AT_TEXT, EXTRACT_SCALAR: AT_TEXT, "->": AT, "->>": AT_TEXT}
_BY_KEY = {"->": GET, "->>": GET_TEXT}
_ALL = {
    **dict.fromkeys((EXTRACT, "->"), EXTRACT_ALL),
    **dict.fromkeys((EXTRACT_STRING, "->>"), EXTRACT_ALL_TEXTS),
}
"""Functions of a path with wildcards, which return lists."""
_QUOTED_KEY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_WILDCARD = re.compile(r"\.\s*\*|\[\s*\*\s*\]")
_LONGEST_PATH = 1_000
"""Characters of a path that may have wildcards."""
_PASSING = frozenset("coalesce ifnull nvl nullif any_value first_value last_value lag lead min max".split())
"""Functions that return one of their arguments."""


def operator(writer: Writer, node: n.Binary, values: list[tuple[n.Node, Value]]) -> Value:
    (base, value), (key, key_value) = values
    text = _json_text(writer, node.operator, base, value)
    if node.operator in ("#>", "#>>"):
        return _called(PATH if node.operator == "#>" else PATH_TEXT, text, _path(writer, node, key, key_value))
    if is_integer(key_value.type):
        return _called(_BY_INDEX[node.operator], text, f"CAST({writer.text(key, key_value)} AS BIGINT)")
    if _has_wildcard(key):
        return _called(_ALL[node.operator], text, writer.text(key, key_value), type=_TEXTS)
    if not (is_text(key_value.type) or isinstance(bare(key), n.Null)):
        raise TypeMismatch(f"{node.operator} takes a key of type VARCHAR or an index of type INTEGER on its right side")
    return _called(_BY_KEY[node.operator], text, writer.text(key, key_value))


def _path(writer: Writer, node: n.Binary, key: n.Node, value: Value) -> str:
    """Returns the JSON array of the keys of a path: '{a,0}' or a list of texts."""
    constant = bare(key)
    if isinstance(constant, n.Text):
        inner = constant.value.strip()
        if not (inner.startswith("{") and inner.endswith("}")) or any(c in inner for c in '"\\'):
            raise InvalidArgument(f"{node.operator} takes a path as '{{a,0}}' or ['a', '0']")
        names = [name.strip() for name in inner[1:-1].split(",")] if inner[1:-1].strip() else []
        return text_literal(json.dumps(names, ensure_ascii=False))
    if value.type is None or not pa.types.is_list(value.type) or not is_text(value.type.value_type):
        raise TypeMismatch(f"{node.operator} takes a path as '{{a,0}}' or ['a', '0']")
    return _to_json(writer, key, value)


def _json_text(writer: Writer, called: str, node: n.Node, value: Value) -> str:
    """Returns the text of an argument that must be JSON."""
    if isinstance(bare(node), n.Null) or (value.type is not None and pa.types.is_null(value.type)):
        return "CAST(NULL AS VARCHAR)"
    if value.type is not None and not is_text(value.type):
        advice = "write to_json(…) around it" if not pa.types.is_binary(value.type) else "decode it to a text first"
        raise TypeMismatch(f"{called} takes JSON or a text, not a value of another type: {advice}")
    return writer.text(node, value)


def _called(function: str, *arguments: str, type: pa.DataType = _TEXT) -> Value:
    return Value(f"{quote(function)}({', '.join(arguments)})", type)


# --- functions -------------------------------------------------------------------------------------------------------

Arguments = Sequence[tuple[n.Node, Value]]


def call(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value | None:
    """Returns the call of a JSON function; None for any other function."""
    name = _plain(node.name)
    if name not in FUNCTIONS:
        return None
    if node.named or node.distinct or node.others or node.over:
        raise NotSupportedError(f"{node.name} is only supported with plain arguments")
    return FUNCTIONS[name](writer, node, arguments, scope)


def _plain(name: str) -> str:
    """Returns the name of a function of json for that of jsonb."""
    return name.replace("jsonb", "json", 1) if "jsonb" in name else name


def _counted(node: n.Call, arguments: Arguments, *counts: int) -> None:
    if len(arguments) not in counts:
        raise InvalidArgument(f"{node.name} takes {' or '.join(map(str, counts))} arguments, not {len(arguments)}")


_Function = Callable[["Writer", n.Call, Arguments, "Scope"], Value]


def _of_one(function: str, type: pa.DataType = _TEXT, at: str | None = None) -> _Function:
    def write(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
        _counted(node, arguments, *((1,) if at is None else (1, 2)))
        text = _json_text(writer, node.name, *arguments[0])
        if at is not None and len(arguments) == 2:
            found = _called(at, text, _path_text(writer, node, *arguments[1]), type=type)
        else:
            found = _called(function, text, type=type)
        return found._replace(bound=MOST_ROWS) if type == INT64 else found

    return write


def _by_path(function: str) -> _Function:
    def write(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
        _counted(node, arguments, 2)
        text = _json_text(writer, node.name, *arguments[0])
        key, value = arguments[1]
        if is_integer(value.type) and function in _BY_INDEX:
            return _called(_BY_INDEX[function], text, f"CAST({writer.text(key, value)} AS BIGINT)")
        if function in _ALL and _has_wildcard(key):
            return _called(_ALL[function], text, writer.text(key, value), type=_TEXTS)
        return _called(function, text, _path_text(writer, node, key, value))

    return write


def _has_wildcard(key: n.Node) -> bool:
    """Returns whether a key is a constant path such as $.a[*].b, outside of keys in quotes."""
    constant = bare(key)
    if not isinstance(constant, n.Text) or not constant.value.startswith(("$.", "$[")):
        return False
    if len(constant.value) > _LONGEST_PATH:
        return False
    return _WILDCARD.search(_QUOTED_KEY.sub('""', constant.value)) is not None


def _path_text(writer: Writer, node: n.Call, key: n.Node, value: Value) -> str:
    if isinstance(bare(key), n.Null):
        return "CAST(NULL AS VARCHAR)"
    if not is_text(value.type):
        raise TypeMismatch(f"{node.name} takes one path of type VARCHAR: write a call for each path")
    return writer.text(key, value)


def _by_keys(function: str) -> _Function:
    def write(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
        if not arguments:
            raise InvalidArgument(f"{node.name} takes JSON and the keys of a path")
        text = _json_text(writer, node.name, *arguments[0])
        keys = arguments[1:]
        if all(isinstance(bare(key), n.Text) for key, _ in keys):
            names = [constant.value for key, _ in keys if isinstance(constant := bare(key), n.Text)]
            return _called(function, text, text_literal(json.dumps(names, ensure_ascii=False)))
        texts = [f"arrow_cast({writer.text(key, value)}, 'Utf8')" for key, value in keys]
        made = quote(writer.environment.bounded("to_json", _TEXTS))
        return _called(function, text, f"{made}(make_array({', '.join(texts)}))")

    return write


def _rows(function: str) -> _Function:
    def write(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
        _counted(node, arguments, 1)
        inner = _called(function, _json_text(writer, node.name, *arguments[0]))
        return Value(f"unnest({inner.text})", _TEXT)

    return write


def _to_json_call(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
    _counted(node, arguments, 1)
    return Value(_member(writer, *arguments[0], scope), _TEXT)


def _member(writer: Writer, node: n.Node, value: Value, scope: Scope) -> str:
    """Returns the JSON text of a value, which stays as it is if it is JSON."""
    if isinstance(bare(node), n.Null):
        return "CAST(NULL AS VARCHAR)"
    if not yields_json(node, scope):
        return _to_json(writer, node, value)
    if value.type is not None and pa.types.is_list(value.type):
        raise NotSupportedError("a list of JSON can't be written as JSON: leave out the wildcards of its path")
    return writer.text(node, value)


def _to_json(writer: Writer, node: n.Node, value: Value) -> str:
    type = value.type
    if type is None and isinstance(bare(node), n.Struct):
        type = _struct_type(writer, bare(node))
    if type is None:
        raise NotSupportedError(
            "the type of a value that is written as JSON is not known here: write CAST(… AS …) around it, or name the "
            "fields, as in json_build_object('a', a, 'b', b)"
        )
    return f"{quote(writer.environment.bounded('to_json', type))}({writer.text(node, value)})"


def _struct_type(writer: Writer, node: n.Node) -> pa.DataType | None:
    """Returns the type of {'a': 1} without columns; None if it has some."""
    return writer.environment.result(writer.source[node.start : node.end], ())


def _object(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
    keys = [bare(key) for key, _ in arguments[::2]]
    names = [key.value for key in keys if isinstance(key, n.Text)]
    if len(arguments) % 2 or len(names) < len(keys):
        raise NotSupportedError(
            f"{node.name} takes pairs of a constant key and a value, as {node.name}('a', x, 'b', y): for keys that are "
            "not constant write to_json(map([key], [value]))"
        )
    if len(set(names)) < len(names):
        raise InvalidArgument(f"{node.name} has a key twice")
    if not names:
        return Value("'{}'", _TEXT)
    return _joined(writer, "json_object", names, arguments[1::2], scope)


def _array(function: str) -> _Function:
    def write(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
        if not arguments:
            return Value("'[]'", _TEXT)
        return _joined(writer, function, [f"c{at}" for at in range(len(arguments))], arguments, scope)

    return write


def _joined(writer: Writer, function: str, names: Sequence[str], members: Arguments, scope: Scope) -> Value:
    """Joins members to an object or an array. They get there as the fields of a struct of texts."""
    texts = [_member(writer, node, value, scope) for node, value in members]
    fields = ", ".join(
        f"{text_literal(name)}, arrow_cast({text}, 'Utf8')" for name, text in zip(names, texts, strict=True)
    )
    made = writer.environment.bounded(function, pa.struct([(name, _TEXT) for name in names]))
    return Value(f"{quote(made)}(named_struct({fields}))", _TEXT)


def _refused(advice: str) -> _Function:
    def write(writer: Writer, node: n.Call, arguments: Arguments, scope: Scope) -> Value:
        raise NotSupportedError(f"{node.name} is not supported: {advice}")

    return write


FUNCTIONS: dict[str, _Function] = {
    "json_extract": _by_path(EXTRACT),
    "json_extract_string": _by_path(EXTRACT_STRING),
    "json_extract_scalar": _by_path(EXTRACT_SCALAR),
    "json_extract_path": _by_keys(PATH),
    "json_extract_path_text": _by_keys(PATH_TEXT),
    "json_value": _by_path(VALUE),
    "json_query": _by_path(QUERY),
    "json_array_length": _of_one(LENGTH, INT64, LENGTH_AT),
    "json_keys": _of_one(KEYS, _TEXTS),
    "json_object_keys": _rows(OBJECT_KEYS),
    "json_array_elements": _rows(ELEMENTS),
    "json_array_elements_text": _rows(ELEMENT_TEXTS),
    ELEMENTS: _of_one(ELEMENTS, _TEXTS),
    ELEMENT_TEXTS: _of_one(ELEMENT_TEXTS, _TEXTS),
    OBJECT_KEYS: _of_one(OBJECT_KEYS, _TEXTS),
    "json_type": _of_one(TYPE, _TEXT, TYPE_AT),
    "json_typeof": _of_one(TYPEOF),
    "json_valid": _of_one(VALID, BOOLEAN),
    "json_parse": _of_one(PARSE),
    "json_format": _of_one(FORMAT),
    "to_json": _to_json_call,
    "row_to_json": _to_json_call,
    "array_to_json": _to_json_call,
    "json_object": _object,
    "json_build_object": _object,
    "json_array": _array("json_array"),
    "json_build_array": _array("json_build_array"),
    "from_json": _refused("take the fields with ->> and cast them, as in CAST(j ->> 'a' AS INTEGER)"),
    "json_transform": _refused("take the fields with ->> and cast them, as in CAST(j ->> 'a' AS INTEGER)"),
    "json_each": _refused("write unnest(json_keys(j)), and j -> key for each key"),
    "json_agg": _refused("write to_json(array_agg(x))"),
    "json_group_array": _refused("write to_json(array_agg(x))"),
}
_NOT_JSON = frozenset(
    "json_extract_string json_extract_scalar json_extract_path_text json_value json_array_length json_keys "
    "json_object_keys json_array_elements_text json_type json_typeof json_valid json_format".split()
) | {ELEMENTS, ELEMENT_TEXTS, OBJECT_KEYS}


# --- casts and types -------------------------------------------------------------------------------------------------


def cast(writer: Writer, node: n.Cast, operand: Value, scope: Scope) -> Value:
    """CAST(x AS JSON): a text is checked, any other value is written as JSON."""
    if isinstance(bare(node.operand), n.Null) or yields_json(node.operand, scope):
        return Value(_member(writer, node.operand, operand, scope), _TEXT)
    if is_text(operand.type) or (operand.type is None and not isinstance(bare(node.operand), n.Struct)):
        return _called(PARSE if node.form != "TRY_CAST" else TRY_PARSE, writer.text(node.operand, operand))
    return Value(_to_json(writer, node.operand, operand), _TEXT)


def typed_text(node: n.TypedText) -> Value:
    """JSON '…'"""
    return _called(PARSE, text_literal(node.value))


def yields_json(node: n.Node, scope: Scope) -> bool:
    """Returns whether an expression is known to be JSON."""
    match node:
        case n.Column():
            return scope.find(node.parts).is_json
        case n.Binary():
            return node.operator in ("->", "#>")
        case n.Cast() | n.TypedText():
            return node.type.name in TYPES
        case n.Call():
            if node.name in _PASSING:
                return any(yields_json(argument, scope) for argument in node.arguments[:1])
            name = _plain(node.name)
            return name in FUNCTIONS and name not in _NOT_JSON
        case n.Paren():
            return yields_json(node.inner, scope)
        case n.Case():
            return any(yields_json(result, scope) for result in node.results)
    return False
