"""Functions over lists with a lambda: list_transform(l, x -> x + 1), list_filter, any_match, all_match, none_match.

DataFusion computes them for all elements of a batch at a time. It reads `->` as a lambda in another dialect only:
`ARROW` is in every text that needs that (`engine/planning/plan.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError, TypeMismatch
from pinakes.core.names import quote
from pinakes.parser.typed import ARROW
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.bounds import UNCOUNTED, is_bounded, weighed
from pinakes.parser.typed.values import BOOLEAN, Output, Value, is_nested, is_text
from pinakes.parser.typed.writer import Scope, Source
from pinakes.parser.workarounds.writing import all_below, bare

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

_TRANSFORM, _FILTER, _ANY = "array_transform", "array_filter", "array_any_match"
FUNCTIONS = {
    **dict.fromkeys(("list_transform", "array_transform", "transform", "list_apply", "array_apply"), _TRANSFORM),
    **dict.fromkeys(("list_filter", "array_filter", "filter"), _FILTER),
    **dict.fromkeys(("any_match", "array_any_match", "list_any_match"), _ANY),
    **dict.fromkeys(("all_match", "array_all_match", "none_match", "array_none_match"), _ANY),
    **dict.fromkeys(("list_reduce", "array_reduce", "reduce"), "reduce"),
}
"""Functions that may have a lambda as an argument, with the function of DataFusion that computes them."""
_UNNEST = "write it with UNNEST in a subquery, and array_agg to make a list of the rows again"
_LONGEST = 1_000
"""Characters of a lambda: its constants are repeated for each element."""


def call(writer: Writer, node: n.Call, scope: Scope) -> Value:
    """Returns a call with a lambda."""
    function = FUNCTIONS[node.name]
    if function == "reduce":
        raise NotSupportedError(
            f"{node.name} is not supported: write it with UNNEST in a subquery, and an aggregate such as sum"
        )
    if len(node.arguments) != 2 or not isinstance(node.arguments[1], n.Lambda) or node.named or node.others:
        raise InvalidArgument(f"{node.name} takes a list and a lambda, as {node.name}(list, x -> x > 1)")
    base, made = node.arguments[0], node.arguments[1]
    if isinstance(base, n.Lambda):
        raise InvalidArgument(f"{node.name} takes a list and a lambda, as {node.name}(list, x -> x > 1)")
    if len(made.names) > 1:
        raise NotSupportedError(f"a lambda with the index of an element is not supported: {_UNNEST}")
    value = writer.value(base, scope)
    if value.type is None:
        raise NotSupportedError(
            f"the type of the list of {node.name} is not known here: write CAST(… AS …[]) around it, or {_UNNEST}"
        )
    if not (pa.types.is_list(value.type) or pa.types.is_large_list(value.type)):
        raise TypeMismatch(f"{node.name} takes a list as its first argument")
    name, element = made.names[0], value.type.value_type
    # DataFusion confuses a parameter with a column of the same name.
    unique = quote(f"${name} {made.start}")
    inner = Scope(scope, scope.defined, [Source(("",), {name: Output(name, element, written=unique)})])
    _check_body(writer, node, made, inner, scope)
    body = writer.value(made.body, inner)
    if function != _TRANSFORM and body.type not in (BOOLEAN, None):
        raise TypeMismatch(f"the lambda of {node.name} must be a condition, as x -> x > 1")
    if body.type is None or pa.types.is_null(body.type):
        raise NotSupportedError(f"the type of the lambda of {node.name} is not known here: {_UNNEST}")
    text = writer.text(made.body, body)
    listed = weighed(writer, base, value, max(1, len(text) // 4))
    if node.name in ("all_match", "array_all_match"):
        text = f"NOT ({text})"
    called = f"{function}({writer.text(base, listed)}, ({unique}{ARROW}{text}))"
    if node.name in ("all_match", "array_all_match", "none_match", "array_none_match"):
        called = f"(NOT {called})"
    type = BOOLEAN if function == _ANY else pa.list_(body.type) if function == _TRANSFORM else value.type
    return Value(called, type)


def _check_body(writer: Writer, node: n.Call, made: n.Lambda, inner: Scope, outer: Scope) -> None:
    """Refuses what DataFusion can't compute for elements, and what would be repeated for each of them."""
    if made.end - made.start > _LONGEST:
        raise NotSupportedError(f"a lambda with more than {_LONGEST:,} characters is not supported: {_UNNEST}")
    parameter = made.names[0]
    for part in (made.body, *all_below(made.body)):
        match part:
            case n.Scalar() | n.Exists() | n.InQuery() | n.Quantified() | n.Query():
                raise NotSupportedError(f"a subquery in a lambda is not supported: {_UNNEST}")
            case n.Call() if part.over or part.name in UNCOUNTED or is_bounded(part.name):
                raise NotSupportedError(f"{part.name} in a lambda is not supported: {_UNNEST}")
            case n.Call() if part.name in FUNCTIONS and part.arguments:
                base = bare(part.arguments[0])
                if not isinstance(base, n.Column) or base.parts != (parameter,):
                    raise NotSupportedError(f"a lambda in a lambda needs the list of the outer one: {_UNNEST}")
            case n.Field() | n.Index():
                raise NotSupportedError(f"fields and elements in a lambda are not supported: {_UNNEST}")
            case n.Column() if part.parts[0] != parameter and not _is_inner(made, part):
                type = outer.find(part.parts).type
                if type is None or is_text(type) or is_nested(type) or pa.types.is_binary(type):
                    raise NotSupportedError(
                        f"the column {part.parts[-1]} in a lambda is only supported if it is a number, a date or a "
                        f"boolean: {_UNNEST}"
                    )
            case n.Column() if len(part.parts) > 1:
                raise NotSupportedError(f"fields and elements in a lambda are not supported: {_UNNEST}")


def _is_inner(made: n.Lambda, column: n.Column) -> bool:
    """Returns whether a name is the parameter of a lambda within this one."""
    return any(
        isinstance(part, n.Lambda) and part.start <= column.start < part.end and column.parts == part.names[:1]
        for part in all_below(made.body)
    )
