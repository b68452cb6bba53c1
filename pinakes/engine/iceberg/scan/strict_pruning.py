"""Finds the files that may have a row for which a predicate is not true (false or NULL); in all others, every row
satisfies it.

DELETE uses this to remove files without reading them. The pruner evaluates `(predicate) IS NOT TRUE`. An unsupported
predicate keeps all files (None), which is safe here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from datafusion import Expr

    from pinakes.engine.iceberg.scan.column import Column
    from pinakes.engine.iceberg.scan.prune import Pruner

_INVERSE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}
MOST_VALUES = 200
"""The maximum length of an IN list; a longer one keeps all files."""


class Failing:
    """Evaluates the negation of predicates for a pruner."""

    def __init__(self, pruner: Pruner) -> None:
        self._pruner = pruner

    def mask(self, e: Expr) -> pa.Array | None:
        """Returns true for every file that may have a row for which the predicate is not true."""
        match e.variant_name():
            case "BinaryExpr":
                return self._binary(e)
            case "InList":
                return self._in_list(e)
            case "IsNull" | "IsNotNull":
                return self._null(e)
        return None

    def _binary(self, e: Expr) -> pa.Array | None:
        operator, (left, right) = e.rex_call_operator(), e.rex_call_operands()
        if operator == "AND":
            return _either(self.mask(left), self.mask(right))
        if operator == "OR":
            one, other = self.mask(left), self.mask(right)
            return pc.and_(one, other) if one is not None and other is not None else one if other is None else other
        found = self._pruner.comparison(e)
        return None if found is None else self._compared(found[0], _INVERSE[found[1]], found[2])

    def _compared(self, column: Column, operator: str, value: pa.Scalar) -> pa.Array | None:
        """Evaluates the inverse comparison. NULL never satisfies a comparison, so files with NULL are included."""
        return _either(self._pruner.may_be_null(column), self._pruner.compared(column, operator, value))

    def _in_list(self, e: Expr) -> pa.Array | None:
        found = self._pruner.listed(e)
        if found is None or len(found[1]) > MOST_VALUES:
            return None
        column, values = found
        if e.to_variant().negated():
            return _all_of([self._compared(column, "=", value) for value in values], pc.or_)
        return _all_of([self._compared(column, "!=", value) for value in values], pc.and_)

    def _null(self, e: Expr) -> pa.Array | None:
        column = self._pruner.column(e.rex_call_operands()[0])
        if column is None:
            return None
        is_null = e.variant_name() == "IsNull"
        return self._pruner.not_all_null(column) if is_null else self._pruner.may_be_null(column)


def _either(one: pa.Array | None, other: pa.Array | None) -> pa.Array | None:
    return None if one is None or other is None else pc.or_(one, other)


def _all_of(masks: Sequence[pa.Array | None], join: Callable[[pa.Array, pa.Array], pa.Array]) -> pa.Array | None:
    found = masks[0]
    for mask in masks[1:]:
        if found is None or mask is None:
            return None
        found = join(found, mask)
    return found
