"""Maps that DataFusion 55 builds or reads wrongly.

map(keys, values): where the lists of a row differ in length, DataFusion 55 pairs its keys with values of other rows.

    map([1, 2], [0]) and map([3], [4, 9]) in two rows of a table are {1: 0, 2: 4} and {3: 9}

A cast that fails reports different lengths. DataFusion itself checks the lengths of list literals.

map_extract(m, key): for a missing key it returns [NULL], as for one whose value is NULL. It returns [] here, as
documented by DataFusion and DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinakes.parser.functions.lists import element
from pinakes.parser.typed import nodes as n
from pinakes.parser.typed.values import Value
from pinakes.parser.workarounds.writing import is_repeatable

if TYPE_CHECKING:
    from pinakes.parser.typed.writer import Writer

Values = Sequence[tuple[n.Node, Value]]


def map_of_lists(writer: Writer, node: n.Call, arguments: Values, others: Values) -> Value | None:
    if len(arguments) != 2 or all(isinstance(argument, n.Array | n.Null) for argument, _ in arguments):
        return None
    keys, values = (writer.text(*argument) for argument in arguments)
    fits = f"cardinality({keys}) = cardinality({values}) OR ({keys}) IS NULL OR ({values}) IS NULL"
    problem = f"concat('a map needs as many keys as values, not ', cardinality({keys}), ' and ', cardinality({values}))"
    fails = f"array_repeat(array_element({values}, 1), CAST({problem} AS BIGINT))"
    return Value(f"map({keys}, CASE WHEN {fits} THEN {values} ELSE {fails} END)")


def values_of_key(writer: Writer, node: n.Call, arguments: Values, others: Values) -> Value | None:
    if node.name == "element_at" and (found := element(writer, node, arguments, others)) is not None:
        return found
    if len(arguments) != 2 or not all(is_repeatable(argument) for argument, _ in arguments):
        return None
    map, key = (writer.text(*argument) for argument in arguments)
    none = f"array_slice(map_values({map}), 1, 0)"
    return Value(f"(CASE WHEN array_has(map_keys({map}), {key}) THEN map_extract({map}, {key}) ELSE {none} END)")
