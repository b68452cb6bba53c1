"""Functions of numbers and of values of any type."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.names import text_literal
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.parser.functions import BITS, HALF_UP, UUID7, WHOLE
from pinakes.parser.functions.lists import unknown
from pinakes.parser.functions.rule import Arguments, Rule, check_plain, template
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import INT64, Value, is_decimal, is_float, is_integer
from pinakes.parser.typed.writer import Writer
from pinakes.parser.workarounds.writing import Changes


def _typeof(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    check_plain(node)
    if len(arguments) != 1:
        raise InvalidArgument(f"{node.name} takes 1 argument, not {len(arguments)}")
    (child, value) = arguments[0]
    if value.type is None:
        raise unknown(node)
    name = text_literal("null" if pa.types.is_null(value.type) else sql_name_of_arrow(value.type))
    return Value(f"(CASE WHEN ({writer.text(child, value)}) IS NULL THEN {name} ELSE {name} END)", pa.string())


_BITS_OF = {pa.int8(): 0xFF, pa.int16(): 0xFFFF, pa.int32(): 0xFFFF_FFFF}


def _bit_count(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    check_plain(node)
    if len(arguments) != 1 or not (is_integer(arguments[0][1].type) or pa.types.is_null(arguments[0][1].type or INT64)):
        raise InvalidArgument(f"{node.name} takes an integer")
    text = f"CAST({writer.text(*arguments[0])} AS BIGINT)"
    mask = _BITS_OF.get(arguments[0][1].type)
    text = text if mask is None else f"({text} & {mask})"
    return Value(f'"{BITS}"({text})', INT64, 64)


def _integral(writer: Writer, node: n.Call, arguments: Arguments, others: Arguments) -> Value | None:
    """The operand of a cast to an integer in another dialect (`parser/translation/`)."""
    if len(arguments) != 1:
        raise InvalidArgument(f"{node.name} takes 1 argument, not {len(arguments)}")
    child, value = arguments[0]
    text = writer.text(child, value)
    if value.type is None:
        raise unknown(node)
    if is_float(value.type) or (is_decimal(value.type) and node.name == WHOLE):
        return Value(f"{'trunc' if node.name == WHOLE else 'round'}({text})", value.type)
    return value._replace(text=f"({text})")


INTERNAL = {WHOLE: _integral, HALF_UP: _integral}


_BUCKET = (
    "(CASE WHEN {1} = {2} THEN CAST(1 / ({2} - {1}) AS BIGINT) "  # fails
    "WHEN {1} < {2} THEN CASE WHEN {0} < {1} THEN 0 WHEN {0} >= {2} THEN {3} + 1 "
    "ELSE 1 + CAST((({0} - {1}) * {3} - (({0} - {1}) * {3}) % ({2} - {1})) / ({2} - {1}) AS BIGINT) END "
    "WHEN {1} > {2} THEN CASE WHEN {0} > {1} THEN 0 WHEN {0} <= {2} THEN {3} + 1 "
    "ELSE 1 + CAST((({1} - {0}) * {3} - (({1} - {0}) * {3}) % ({1} - {2})) / ({1} - {2}) AS BIGINT) END END)"
)


def _width_bucket(call: n.Call, changes: Changes) -> None:
    if len(call.arguments) == 4:
        count = call.arguments[3]
        if not isinstance(count, n.Number) or not count.text.isdigit() or int(count.text) == 0:
            raise NotSupportedError("width_bucket takes the number of buckets as a constant that is greater than zero")
    template(_BUCKET)(call, changes)


def _uuid(name: str) -> Rule:
    return Rule(
        f"{name}()",
        "",
        "varchar",
        "A random UUID (version 4).",
        f"SELECT length({name}())",
        template("uuid()"),
        deterministic=False,
    )


def _type(name: str) -> Rule:
    return Rule(
        f"{name}(x)", "any", "varchar", "The name of the type of a value.", f"SELECT {name}(1.5)", typed=_typeof
    )


RULES = {
    "typeof": _type("typeof"),
    "pg_typeof": _type("pg_typeof"),
    **{
        name: Rule(
            f"{name}(condition, x [, y])",
            "boolean, any, any",
            "type of x and y",
            "x if the condition is true, else y, or NULL without y.",
            f"SELECT {name}(1 > 2, 'a', 'b')",
            template("(CASE WHEN {0} THEN {1} END)", "(CASE WHEN {0} THEN {1} ELSE {2} END)"),
        )
        for name in ("if", "iif", "iff")
    },
    "bit_count": Rule(
        "bit_count(x)",
        "integer",
        "bigint",
        "The number of bits that are set; a negative number has those of its type.",
        "SELECT bit_count(7)",
        typed=_bit_count,
    ),
    "width_bucket": Rule(
        "width_bucket(x, low, high, count)",
        "number, number, number, integer",
        "bigint",
        "The number of the bucket of x among buckets of equal width; 0 below them, and count + 1 above.",
        "SELECT width_bucket(5.35, 0.024, 10.06, 5)",
        _width_bucket,
    ),
    "gen_random_uuid": _uuid("gen_random_uuid"),
    "uuidv4": _uuid("uuidv4"),
    "uuid_generate_v4": _uuid("uuid_generate_v4"),
    "uuidv7": Rule(
        "uuidv7()",
        "",
        "varchar",
        "A UUID (version 7) that starts with the time, so that later ones sort behind earlier ones.",
        "SELECT length(uuidv7())",
        template(f'"{UUID7}"(random())'),
        deterministic=False,
    ),
}
