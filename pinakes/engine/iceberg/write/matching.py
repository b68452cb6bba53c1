"""Prunes the target of MERGE and UPDATE … FROM: finds the files that may have a row that matches the source.

Predicates with constants prune files as in any query. If the condition equates a column of the target with one of the
source, the values of the source prune as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.types import StringType

from pinakes.core.names import quote
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.iceberg.scan.bounds import Range, is_floating
from pinakes.engine.iceberg.scan.column import Column
from pinakes.engine.iceberg.scan.prune import Pruner
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite
from pinakes.engine.pushdown.expressions import read
from pinakes.engine.pushdown.join_values import TEXT_TYPES
from pinakes.engine.pushdown.predicate import Cast, ColumnRef, Predicate

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.plan import LogicalPlan

FEW = 2
"""The minimum number of files for which the source is queried."""
MOST_SINGLE = 200
"""The maximum number of values that are compared one by one, including bucket pruning."""
_THROUGH = ("Projection", "Filter", "SubqueryAlias")
_SAME = ("Int32", "Int64", *TEXT_TYPES)
"""The types of casts that keep every value that fits."""


def matching(change: Rewrite, written: str, source: str | None, on: str) -> list[int]:
    """Returns the files that may match, before the target is pruned.

    The plan uses the source as `written`, since an in-memory table would hide the predicates. `source` is a
    deterministic relation that can be queried for its values, or None.
    """
    found = change.wanted_by(_joined(change, written, on))
    if source is None or len(found) < FEW:
        return found
    for column, expression in _equated(change, _joined(change, source, on), source):
        values = change.plan(f"SELECT DISTINCT {expression} AS v FROM {source}")
        keys = [column.value(v) for v in change.execution.collect(values).column(0) if v.is_valid]
        if all(key is not None for key in keys):
            found = _holding(change, column, keys, found)
    return found


def _joined(change: Rewrite, source: str, on: str) -> DataFrame:
    # The source of an UPDATE may be a list of tables.
    return change.plan(f"SELECT 1 FROM {source}\n CROSS JOIN {change.sql} WHERE {on}\n").frame


def _equated(change: Rewrite, frame: DataFrame, source: str) -> Iterator[tuple[Column, str]]:
    """Yields each column of the target that must equal a column of the source, with the latter as SQL."""
    pruner = Pruner(change.files, change.table.handle.schema())
    with translated():
        pairs = list(_pairs(frame.optimized_logical_plan()))
    for pair in pairs:
        for mine, other in (pair, pair[::-1]):
            column, expression = _target_column(mine, pruner), _expression(other, source)
            if column is not None and expression is not None and not is_floating(column.kind):
                yield column, expression


def _pairs(plan: LogicalPlan) -> Iterator[tuple[Predicate, Predicate]]:
    """Yields the equated expressions of inner joins, below nodes that do not add rows."""
    node: Any = plan.to_variant()
    kind = type(node).__name__
    if kind == "Join" and str(node.join_type()) == "Inner":
        if not node.null_equals_null():  # IS NOT DISTINCT FROM: NULL equals NULL
            yield from ((read(one), read(other)) for one, other in node.on())
    elif kind not in _THROUGH:
        return
    for below in plan.inputs():
        yield from _pairs(below)


def _target_column(e: Predicate, pruner: Pruner) -> Column | None:
    """Returns a column of the target, also below a cast to a wider integer or another string type."""
    inner = _uncast(e)
    if not isinstance(inner, ColumnRef) or inner.path or inner.relation != TARGET:
        return None
    column = pruner.column(inner)
    if not isinstance(e, Cast) or column is None:
        return column
    same = pa.types.is_integer(column.kind) if "Int" in e.type_name else isinstance(column.type, StringType)
    return column if same else None


def _expression(e: Predicate, source: str) -> str | None:
    """Returns a column of the source as SQL, without a cast to an integer or string, which `Column.value` also handles.

    Other expressions cannot be converted back to SQL.
    """
    e = _uncast(e)
    if not isinstance(e, ColumnRef) or e.path:
        return None
    last = quote(e.relation.split(".")[-1])  # without an alias, this is the table's full name
    return f"{last}.{quote(e.name)}" if e.relation != TARGET and f"{last} " in f"{source} " else None


def _uncast(e: Predicate) -> Predicate:
    return e.argument if isinstance(e, Cast) and not e.is_try and e.type_name in _SAME else e


def _holding(change: Rewrite, column: Column, keys: Sequence[pa.Scalar], files: list[int]) -> list[int]:
    """Returns the files in which the column may have one of these values."""
    if len(keys) <= MOST_SINGLE:
        pruner = Pruner(change.files, change.table.handle.schema())
        masks = [pruner.compared(column, "=", key) for key in keys]
        if any(mask is None for mask in masks):
            return files
        return [n for n in files if any(mask[n].as_py() for mask in masks if mask is not None)]
    order = sorted(key.as_py() for key in keys)
    for known in column.ranges:
        files = [n for n in files if _meets(known, n, order)]
    return files


def _meets(known: Range, number: int, keys: Sequence[Any]) -> bool:
    least, greatest = known.least[number].as_py(), known.greatest[number].as_py()
    if least is None or greatest is None:
        return True
    first = bisect_left(keys, least)
    return first < len(keys) and bool(keys[first] <= greatest)
