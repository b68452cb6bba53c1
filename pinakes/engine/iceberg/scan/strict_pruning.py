"""Finds the files that may have a row for which a predicate is not true (false or NULL); in all others, every row
satisfies it.

DELETE uses this to remove files without reading them. The pruner evaluates `(predicate) IS NOT TRUE`. An unsupported
predicate keeps all files (None), which is safe here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.engine.pushdown.predicate import And, Comparison, In, Is, Or, Predicate

if TYPE_CHECKING:
    from pinakes.engine.iceberg.scan.column import Column
    from pinakes.engine.iceberg.scan.prune import Pruner

_INVERSE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}
MOST_VALUES = 200
"""The maximum length of an IN list; a longer one keeps all files."""


class Failing:
    """Evaluates the negation of predicates for a pruner."""

    def __init__(self, pruner: Pruner) -> None:
        self._pruner = pruner

    def mask(self, predicate: Predicate) -> pa.Array | None:
        """Returns true for every file that may have a row for which the predicate is not true."""
        match predicate:
            case And(parts):
                return _all_of([self.mask(part) for part in parts], pc.or_)
            case Or(parts):
                return _all_of([mask for mask in map(self.mask, parts) if mask is not None], pc.and_)
            case Comparison():
                found = self._pruner.comparison(predicate)
                return None if found is None else self._compared(found[0], _INVERSE[found[1]], found[2])
            case In():
                return self._in_list(predicate)
            case Is(tested, "NULL", negated):
                column = self._pruner.column(tested)
                if column is None:
                    return None
                return self._pruner.may_be_null(column) if negated else self._pruner.not_all_null(column)
        return None

    def _compared(self, column: Column, operator: str, value: pa.Scalar) -> pa.Array | None:
        """Evaluates the inverse comparison. NULL never satisfies a comparison, so files with NULL are included."""
        return _either(self._pruner.may_be_null(column), self._pruner.compared(column, operator, value))

    def _in_list(self, predicate: In) -> pa.Array | None:
        found = self._pruner.listed(predicate)
        if found is None or len(found[1]) > MOST_VALUES:
            return None
        column, values = found
        operator, join = ("=", pc.or_) if predicate.negated else ("!=", pc.and_)
        return _all_of([self._compared(column, operator, value) for value in values], join)


def _either(one: pa.Array | None, other: pa.Array | None) -> pa.Array | None:
    return None if one is None or other is None else pc.or_(one, other)


def _all_of(masks: Sequence[pa.Array | None], join: Callable[[pa.Array, pa.Array], pa.Array]) -> pa.Array | None:
    known = [mask for mask in masks if mask is not None]
    return reduce(join, known) if known and len(known) == len(masks) else None
