"""x IN (…): defects of lists in DataFusion 55.

It merges lists about the same column that are joined by AND or OR, which is right only for constants without NULL: it
compares other values by their expressions, so that x IN (a, 1) AND x IN (b, 1) becomes x = 1.

It treats a list as constant when each value returns one value for an empty batch, as CASE does, and then compares with
that one. So values that are not constant are compared separately.

    x IN (17, a, NULL)      x IN (17) OR x = a OR NULL

The set of a list distinguishes 0.0 and -0.0, which are equal. DataFusion makes a set of four or more values, or where a
column is computed; zero is compared separately, and IS TRUE keeps the optimiser from merging it again.
`engine/datafusion/workarounds/join_filter_columns.py` refuses the remaining cases, such as zeros that are computed or
given as parameters.

    d IN (0, 1, 2, 3)      d IN (1, 2, 3) OR (d = 0) IS TRUE
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pinakes.core.errors import NotSupportedError
from pinakes.parser.typed import nodes as n
from pinakes.parser.workarounds.writing import Changes, Template, bare, is_repeatable, operand

Floats = Callable[[], frozenset[str]]

FEWEST = 4
"""Shorter lists after a column are compared value by value."""
_ZERO = re.compile(r"\s*[+-]?(?:0+\.?0*|\.0+)(?:[eE][+-]?\d+)?\s*")
MOST_PARAMETERS = 200
"""Maximum parameters that are compared separately, since they may be NULL."""


@dataclass
class _Values:
    constants: list[n.Node] = field(default_factory=list)
    zeros: list[n.Node] = field(default_factory=list)
    others: list[n.Node] = field(default_factory=list)
    has_null: bool = False


def write_out_lists(node: n.Node, changes: Changes, floats: Floats, *, several: bool) -> None:
    """Rewrites a list. `floats` returns the names of columns that may be floats; `several` is whether the text has
    several lists.
    """
    if not isinstance(node, n.InList) or isinstance(bare(node.operand), n.Row):
        return
    values = _values(node, floats, apart=several and len(node.items) <= MOST_PARAMETERS)
    if not (values.zeros or values.others or values.has_null):
        return
    if not is_repeatable(node.operand):
        if not values.others:
            return
        raise NotSupportedError(
            "IN (…) with computed values after a function that gives something else each time is not supported: "
            "compute it in a subquery, and compare its column"
        )
    negated = changes.words_behind(node.operand, node)[:1] == ["NOT"]
    found: Template = ["("]
    for number, part in enumerate(_parts(node, values, negated=negated)):
        found += [(" AND " if negated else " OR ") if number else "", *part]
    changes.replace(node, [*found, ")"])


def _values(node: n.InList, floats: Floats, *, apart: bool) -> _Values:
    """Returns the values of a list by the form of their comparison; parameters are separate if `apart`, since they
    may be NULL.
    """
    found, makes_a_set = _Values(), _makes_a_set(node, floats) if any(map(_is_zero, node.items)) else False
    for item in node.items:
        value = bare(item)
        if _is_null(value):
            found.has_null = True
        elif makes_a_set and _is_zero(item):
            found.zeros.append(item)
        elif len(node.items) == 1 and _is_zero(item) and not isinstance(bare(node.operand), n.Column):
            found.others.append(item)  # 0.0 IN (-0.0) is also computed as a set
        elif _is_constant(value) or (isinstance(value, n.Parameter) and not apart):
            found.constants.append(item)
        else:
            found.others.append(item)
    return found


def _parts(node: n.InList, values: _Values, *, negated: bool) -> list[Template]:
    found: list[Template] = []
    if values.constants:
        listed: Template = ["(", *operand(node.operand), " NOT IN (" if negated else " IN ("]
        for number, item in enumerate(values.constants):
            listed += [", " if number else "", item]
        found.append([*listed, "))"])
    operator = " <> " if negated else " = "
    found += [["(", *operand(node.operand), operator, *operand(item), ")"] for item in values.others]
    if values.zeros:
        equal: Template = ["(", *operand(node.operand), " = 0)"]
        if found:
            found.append(["(", *equal, " IS NOT TRUE)" if negated else " IS TRUE)"])
        else:
            found.append(["(NOT ", *equal, ")"] if negated else equal)
    if values.has_null:
        found.append(["CAST(NULL AS BOOLEAN)"])
    return found


def _makes_a_set(node: n.InList, floats: Floats) -> bool:
    column = bare(node.operand)
    if isinstance(column, n.Column):
        return len(node.items) >= FEWEST and column.parts[-1] in floats()
    return len(node.items) > 1


def _is_zero(item: n.Node) -> bool:
    item = bare(item)
    if isinstance(item, n.Cast):
        item = bare(item.operand)
    if isinstance(item, n.Unary) and item.operator in "+-":
        item = bare(item.operand)
    if isinstance(item, n.Text):  # CAST('-0.0' AS DOUBLE)
        return _ZERO.fullmatch(item.value) is not None
    return isinstance(item, n.Number) and not set(item.text.lower().split("e")[0]) - set("0._")


def _is_null(value: n.Node) -> bool:
    return isinstance(value, n.Null) or (isinstance(value, n.Cast) and _is_null(bare(value.operand)))


def _is_constant(value: n.Node) -> bool:
    """Returns whether a value is a literal, and therefore not NULL."""
    match bare(value):
        case n.Number() | n.Text() | n.Boolean() | n.TypedText():
            return True
        case n.Interval(operand=None) | n.Test(operands=[]):
            return True
        case n.Unary(operand=inner):
            return _is_constant(inner)
        case n.Cast(operand=inner, form=form):
            return form != "TRY_CAST" and _is_constant(inner)
        case n.Binary(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case n.Array(items=items):
            return all(_is_constant(item) for item in items)
        case _:
            return False
