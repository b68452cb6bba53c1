"""Functions of lists, maps and structs."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import quote, text_literal
from pinakes.parser.functions import HISTOGRAM, LIST_SUM, MODE
from pinakes.parser.functions.rule import Arguments, Rule, check_plain, constant, template
from pinakes.parser.lexer import tokenize
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import (
    BOOLEAN,
    DOUBLE,
    INT64,
    MOST_DIGITS,
    MOST_ROWS,
    Value,
    is_decimal,
    is_float,
    is_integer,
    is_nested,
    is_text,
)
from pinakes.parser.typed.writer import Writer
from pinakes.parser.workarounds.writing import Changes, Template


def is_list(type: pa.DataType | None) -> bool:
    return type is not None and (pa.types.is_list(type) or pa.types.is_large_list(type))


def _list_value(call: n.Call, changes: Changes) -> None:
    check_plain(call)
    parts: Template = ["["]
    for at, argument in enumerate(call.arguments):
        parts += [", " if at else "", argument]
    changes.replace(call, [*parts, "]"])


def _struct_pack(call: n.Call, changes: Changes) -> None:
    """struct_pack(a := 1) as named_struct('a', 1)."""
    parts: Template = ["named_struct("]
    at = changes.text.index("(", call.start) + 1
    for argument in call.arguments:
        tokens = [token for token in tokenize(changes.text[at : argument.start]) if token.text != ","]
        if [token.word for token in tokens[1:2]] not in ([":="], ["=>"]):
            raise InvalidArgument(f"{call.name} takes fields by name: {call.name}(a := 1)")
        name = tokens[0].text if tokens[0].kind == "quoted" else tokens[0].text.lower()
        parts += [", " if len(parts) > 1 else "", text_literal(name), ", ", argument]
        at = argument.end
    if len(parts) == 1:
        raise InvalidArgument(f"{call.name} needs a field: {call.name}(a := 1)")
    changes.replace(call, [*parts, ")"])


def _subscripts(call: n.Call, changes: Changes) -> None:
    check_plain(call)
    values = call.arguments
    if len(values) != 2 or not isinstance(values[1], n.Number) or values[1].text != "1":
        raise NotSupportedError(f"{call.name} is supported as {call.name}(list, 1) only")
    changes.replace(call, ["unnest(range(1, CAST(cardinality(", values[0], ") AS BIGINT) + 1))"])


# --- with types --------------------------------------------------------------------------------------------------


def unknown(node: n.Call) -> NotSupportedError:
    return NotSupportedError(f"the type of an argument of {node.name} is not known here: write CAST(… AS …) around it")


def _one(node: n.Call, arguments: Arguments, count: int = 1) -> None:
    check_plain(node)
    if len(arguments) != count:
        raise InvalidArgument(f"{node.name} takes {count} argument{'s' if count > 1 else ''}, not {len(arguments)}")


def _length(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    _one(node, arguments)
    text, type = writer.text(*arguments[0]), arguments[0][1].type
    if type is None:
        raise unknown(node)
    if is_list(type) or pa.types.is_map(type):
        return Value(f"CAST(cardinality({text}) AS BIGINT)", INT64, MOST_ROWS)
    if pa.types.is_binary(type) or pa.types.is_large_binary(type) or pa.types.is_binary_view(type):
        return Value(f"CAST(octet_length({text}) AS BIGINT)", INT64, MOST_ROWS)
    if not (is_text(type) or pa.types.is_null(type)):
        raise InvalidArgument(f"{node.name} takes a text or a list: write CAST(… AS VARCHAR) for the text of a value")
    return Value(f"CAST(character_length({text}) AS BIGINT)", INT64, MOST_ROWS)


def _contains(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    if len(arguments) != 2 or not is_nested(arguments[0][1].type):
        return None
    within, value = (writer.text(*argument) for argument in arguments)
    if pa.types.is_map(arguments[0][1].type):
        within = f"map_keys({within})"
    return Value(f"array_has({within}, {value})", BOOLEAN)


def element(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """element_at(list, i); None for a map."""
    if len(arguments) != 2 or not is_list(arguments[0][1].type):
        return None
    assert arguments[0][1].type is not None
    values, at = (writer.text(*argument) for argument in arguments)
    return Value(f"array_element({values}, {at})", arguments[0][1].type.value_type)


def _of_list(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """The most frequent element, or the number of each: of the list that `aggregates.py` makes."""
    type = arguments[0][1].type
    if not is_list(type):
        raise unknown(node)
    assert type is not None
    what = node.name.removeprefix("$")
    if is_nested(type.value_type) or pa.types.is_interval(type.value_type):
        raise NotSupportedError(f"{what} of lists, structs or intervals is not supported")
    called = writer.environment.bounded(what, type)
    result = type.value_type if what == "mode" else pa.map_(type.value_type, INT64)
    return Value(f"{quote(called)}({writer.text(*arguments[0])})", result)


def _list_sum(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    _one(node, arguments)
    type = arguments[0][1].type
    if type is None:
        raise unknown(node)
    if pa.types.is_null(type) or (is_list(type) and pa.types.is_null(type.value_type)):
        return Value("CAST(NULL AS BIGINT)", INT64)
    if not is_list(type) or not (
        is_integer(type.value_type) or is_decimal(type.value_type) or is_float(type.value_type)
    ):
        raise InvalidArgument(f"{node.name} takes a list of numbers")
    called = writer.environment.bounded("list_sum", type)
    return Value(f"{quote(called)}({writer.text(*arguments[0])})", sum_type(type.value_type))


def sum_type(type: pa.DataType) -> pa.DataType:
    """Returns the type of the sum of elements of this type."""
    if is_decimal(type):
        return pa.decimal128(MOST_DIGITS, type.scale)
    return DOUBLE if is_float(type) else INT64


_NUMERIC = frozenset(
    {"list_product", "list_median", "list_stddev_samp", "list_stddev_pop", "list_var_samp", "list_var_pop"}
)
_BOOLEAN = frozenset({"list_bool_and", "list_bool_or"})


def aggregate_type(name: str, type: pa.DataType) -> pa.DataType:
    """Returns the type of an aggregate of lists, which `engine/datafusion/library_functions.py` computes."""
    if name in _NUMERIC:
        return DOUBLE
    if name in _BOOLEAN:
        return BOOLEAN
    return type.value_type if name == "list_any_value" else INT64


def _list_aggregate(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """list_median(list) and similar functions."""
    _one(node, arguments)
    return _aggregate(writer, node, node.name.replace("array_", "list_"), arguments[0])


_ALIASES = {
    **dict.fromkeys(("mean", "avg"), "avg"),
    **dict.fromkeys(("stddev", "stddev_samp"), "stddev_samp"),
    **dict.fromkeys(("variance", "var_samp"), "var_samp"),
    **dict.fromkeys(("any_value", "arbitrary"), "any_value"),
    **{name: name for name in "sum min max count first last mode histogram median product".split()},
    **{name: name for name in "stddev_pop var_pop bool_and bool_or".split()},
}


def _named_aggregate(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """list_aggregate(list, 'median')"""
    check_plain(node)
    if len(arguments) < 2:
        raise InvalidArgument(f"{node.name} takes a list and the name of an aggregate: {node.name}(list, 'sum')")
    name = constant(writer, node, arguments[1][0], "the name of an aggregate").lower()
    if name not in _ALIASES or len(arguments) > 2:
        instead = (
            "array_to_string(list, ',')" if name in ("string_agg", "group_concat") else ", ".join(sorted(_ALIASES))
        )
        raise NotSupportedError(f"{node.name} with {name} is not supported: write {instead}")
    return _aggregate(writer, node, f"list_{_ALIASES[name]}", arguments[0])


def _aggregate(writer: Writer, node: n.Call, name: str, argument: tuple[n.Node, Value]) -> Value | None:
    type = argument[1].type
    if type is None:
        raise unknown(node)
    if pa.types.is_null(type):
        type = pa.list_(INT64)
        text = "CAST(NULL AS BIGINT[])"
    else:
        text = writer.text(*argument)
    if not is_list(type):
        raise InvalidArgument(f"{node.name} takes a list")
    value = type.value_type
    if name == "list_sum":
        return _list_sum(writer, node, [argument], ())
    if pa.types.is_null(value):
        type, value = pa.list_(INT64), INT64
        text = f"CAST({text} AS BIGINT[])"
    if name in ("list_first", "list_last"):
        return Value(f"array_element({text}, {1 if name == 'list_first' else -1})", value)
    if name in ("list_min", "list_max"):
        return Value(f"array_{name.removeprefix('list_')}({text})", value)
    if name in ("list_mode", "list_histogram"):
        inner = n.Call(node.start, node.end, MODE if name == "list_mode" else HISTOGRAM, [argument[0]])
        return _of_list(writer, inner, [(argument[0], Value(text, type))], ())
    is_number = is_integer(value) or is_decimal(value) or is_float(value)
    if name in _NUMERIC | {"list_avg"} and not is_number:
        raise InvalidArgument(f"{node.name} takes a list of numbers")
    if name == "list_avg":
        return Value(f"list_avg({text})", DOUBLE)
    if name in _BOOLEAN and not pa.types.is_boolean(value):
        raise InvalidArgument(f"{node.name} takes a list of booleans")
    if name == "list_unique" and is_nested(value):
        raise NotSupportedError(f"{node.name} of lists and structs is not supported")
    called = writer.environment.bounded(name, type)
    return Value(f"{quote(called)}({text})", aggregate_type(name, type))


def _where(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    _one(node, arguments, 2)
    type, mask = arguments[0][1].type, arguments[1][1].type
    if type is None or mask is None:
        raise unknown(node)
    if (
        not is_list(type)
        or not is_list(mask)
        or not (pa.types.is_boolean(mask.value_type) or pa.types.is_null(mask.value_type))
    ):
        raise InvalidArgument(f"{node.name} takes a list, and a list of booleans of the same length")
    called = writer.environment.bounded("list_where", type)
    texts = writer.text(*arguments[0]), writer.text(*arguments[1])
    return Value(f"{quote(called)}({texts[0]}, CAST({texts[1]} AS BOOLEAN[]))", type)


INTERNAL = {MODE: _of_list, HISTOGRAM: _of_list, LIST_SUM: _list_sum}


def _len(name: str) -> Rule:
    return Rule(
        f"{name}(x)",
        "text, list, map or bytes",
        "bigint",
        "The characters of a text, the elements of a list or the bytes of a binary.",
        f"SELECT {name}([1, 2, 3])",
        typed=_length,
    )


def _aggregated(name: str, returns: str, description: str, example: str) -> Rule:
    return Rule(f"{name}(list)", "list", returns, description, f"SELECT {name}({example})", typed=_list_aggregate)


_COUNT = "The number of elements that are not NULL."
_ANY = "The first element that is not NULL."
_NUMBERS = "[1, 2, 4]"

RULES = {
    **{
        name: Rule(
            f"{name}(list, name)",
            "list, varchar",
            "any",
            "An aggregate of the elements of a list by its name, such as sum, min, max, avg, count, median or mode.",
            f"SELECT {name}([1, 2, 4], 'median')",
            typed=_named_aggregate,
        )
        for name in ("list_aggregate", "list_aggr", "array_aggregate", "array_aggr")
    },
    "list_count": _aggregated("list_count", "bigint", _COUNT, "[1, NULL]"),
    "list_unique": _aggregated(
        "list_unique", "bigint", "The number of different elements that are not NULL.", "[1, 1, 2]"
    ),
    "array_unique": _aggregated(
        "array_unique", "bigint", "The number of different elements that are not NULL.", "[1, 1, 2]"
    ),
    "list_any_value": _aggregated("list_any_value", "type of an element", _ANY, "[NULL, 2]"),
    "list_first": _aggregated("list_first", "type of an element", "The first element, which may be NULL.", _NUMBERS),
    "list_last": _aggregated("list_last", "type of an element", "The last element, which may be NULL.", _NUMBERS),
    "list_min": _aggregated("list_min", "type of an element", "The least element.", _NUMBERS),
    "list_mode": _aggregated(
        "list_mode", "type of an element", "The most frequent element, the least of several.", _NUMBERS
    ),
    "list_histogram": _aggregated("list_histogram", "map", "A map of the elements to their numbers.", "[1, 1]"),
    "list_median": _aggregated("list_median", "double", "The median of the elements.", _NUMBERS),
    "list_product": _aggregated("list_product", "double", "The product of the elements.", _NUMBERS),
    "list_stddev_samp": _aggregated("list_stddev_samp", "double", "The standard deviation of a sample.", _NUMBERS),
    "list_stddev_pop": _aggregated("list_stddev_pop", "double", "The standard deviation of all values.", _NUMBERS),
    "list_var_samp": _aggregated("list_var_samp", "double", "The variance of a sample.", _NUMBERS),
    "list_var_pop": _aggregated("list_var_pop", "double", "The variance of all values.", _NUMBERS),
    "list_bool_and": _aggregated("list_bool_and", "boolean", "Whether all elements are true.", "[true, false]"),
    "list_bool_or": _aggregated("list_bool_or", "boolean", "Whether an element is true.", "[true, false]"),
    **{
        name: Rule(
            f"{name}(list, conditions)",
            "list, list of boolean",
            "list",
            "The elements for which a list of the same length is true.",
            f"SELECT {name}([1, 2, 3], [true, false, true])",
            typed=_where,
        )
        for name in ("list_where", "array_where")
    },
    "array_value": Rule(
        "array_value(x, …)", "any, …", "list", "A list of the arguments.", "SELECT array_value(1, 2)", _list_value
    ),
    "list_value": Rule(
        "list_value(x, …)", "any, …", "list", "A list of the arguments.", "SELECT list_value(1, 2)", _list_value
    ),
    "list_pack": Rule(
        "list_pack(x, …)", "any, …", "list", "A list of the arguments.", "SELECT list_pack(1, 2)", _list_value
    ),
    "struct_pack": Rule(
        "struct_pack(name := x, …)",
        "any, …",
        "struct",
        "A struct with these fields.",
        "SELECT struct_pack(a := 1, b := 'x')",
        _struct_pack,
    ),
    "generate_subscripts": Rule(
        "generate_subscripts(list, 1)",
        "list, bigint",
        "bigint",
        "A row for each position in a list, from 1.",
        "SELECT max(i) FROM (SELECT generate_subscripts(['a', 'b'], 1) AS i)",
        _subscripts,
    ),
    "len": _len("len"),
    "contains": Rule(
        "contains(text_or_list, x)",
        "text or list, any",
        "boolean",
        "Whether a text has another in it, a list an element or a map a key.",
        "SELECT contains([1, 2], 2)",
        typed=_contains,
    ),
    "list_sum": Rule(
        "list_sum(list)",
        "list",
        "bigint, decimal or double",
        "The sum of the elements that are not NULL.",
        "SELECT list_sum([1, 2])",
        typed=_list_sum,
    ),
    "array_sum": Rule(
        "array_sum(list)",
        "list",
        "bigint, decimal or double",
        "The sum of the elements that are not NULL.",
        "SELECT array_sum([1, 2])",
        typed=_list_sum,
    ),
    **{
        name: Rule(
            f"{name}(map, key)",
            "map, any",
            "boolean",
            "Whether a map has a key.",
            f"SELECT {name}(MAP {{'a': 1}}, 'a')",
            template("array_has(map_keys({0}), {1})"),
        )
        for name in ("map_contains", "map_contains_key")
    },
}
