"""Which files of the target of a MERGE or UPDATE … FROM can hold a row that meets one of the source.

The metadata knows between which values a column of a file lies. What the condition says of constants chooses files as
in any query; where it equates a column of the target with one of the source, the source's values choose, too.
"""

from __future__ import annotations

import re
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

if TYPE_CHECKING:
    from datafusion import DataFrame, Expr
    from datafusion.plan import LogicalPlan

FEW = 2
"""Files that are not worth asking the source for."""
MOST_SINGLE = 200
"""Values that are looked for one by one, also in buckets."""
_THROUGH = ("Projection", "Filter", "SubqueryAlias")
_SAME = re.compile(r" AS (Int32|Int64|Utf8|Utf8View|LargeUtf8)\)\)$")
"""How a cast ends, as DataFusion shows it, that does not change a value which fits."""


def matching(change: Rewrite, written: str, source: str | None, on: str) -> list[int]:
    """Before the target is narrowed. The source stands in the plan as it is `written`, since rows in memory would hide
    the conditions; `source` is what can be asked for its values and gives the same whenever it is asked, if any is."""
    found = change.wanted_by(_joined(change, written, on))
    if source is None or len(found) < FEW:
        return found
    for column, expression in _equated(change, _joined(change, source, on), source):
        values = change.planner.plan(f"SELECT DISTINCT {expression} AS v FROM {source}", change.statement)
        keys = [column.value(v) for v in change.execution.collect(values).column(0) if v.is_valid]
        if all(key is not None for key in keys):
            found = _holding(change, column, keys, found)
    return found


def _joined(change: Rewrite, source: str, on: str) -> DataFrame:
    # The source of an UPDATE may be a list of tables.
    return change.planner.plan(f"SELECT 1 FROM {source}\n CROSS JOIN {change.sql} WHERE {on}\n", change.statement)


def _equated(change: Rewrite, frame: DataFrame, source: str) -> Iterator[tuple[Column, str]]:
    """Each column of the target that must equal one of the source, which is given as SQL."""
    pruner = Pruner(change.files, change.table.handle.schema())
    with translated():
        pairs = list(_pairs(frame.optimized_logical_plan()))
    for pair in pairs:
        for mine, other in (pair, pair[::-1]):
            column, expression = _target_column(mine, pruner), _expression(other, source)
            if column is not None and expression is not None and not is_floating(column.kind):
                yield column, expression


def _pairs(plan: LogicalPlan) -> Iterator[tuple[Expr, Expr]]:
    """What inner joins equate, as long as nothing lies above them that rows could come in by another way."""
    node: Any = plan.to_variant()
    kind = type(node).__name__
    if kind == "Join" and str(node.join_type()) == "Inner":
        yield from () if node.null_equals_null() else node.on()  # IS NOT DISTINCT FROM: NULL meets NULL
    elif kind not in _THROUGH:
        return
    for below in plan.inputs():
        yield from _pairs(below)


def _target_column(e: Expr, pruner: Pruner) -> Column | None:
    """A column of the target, also one that is compared as a wider whole number or as another kind of text."""
    cast = _SAME.search(str(e)) if e.variant_name() == "Cast" else None
    inner = e.rex_call_operands()[0] if cast else e
    if inner.variant_name() != "Column" or inner.to_variant().relation() != TARGET:
        return None
    column = pruner.column(inner)
    if cast is None or column is None:
        return column
    is_number = "Int" in cast[1]
    same = pa.types.is_integer(column.kind) if is_number else isinstance(column.type, StringType)
    return column if same else None


def _expression(e: Expr, source: str) -> str | None:
    """A column of the source, as it is or as a whole number or text: what such a cast makes, `Column.value` makes, too,
    or says that it can't. Whatever else it is can't be said in SQL again."""
    if e.variant_name() == "Cast" and _SAME.search(str(e)):
        e = e.rex_call_operands()[0]
    if e.variant_name() != "Column":
        return None
    relation, name = e.to_variant().relation(), e.to_variant().name()
    last = quote((relation or "").split(".")[-1])  # a table without an alias has its full name here
    return f"{last}.{quote(name)}" if relation != TARGET and f"{last} " in f"{source} " else None


def _holding(change: Rewrite, column: Column, keys: Sequence[pa.Scalar], files: list[int]) -> list[int]:
    """Those of the files in which the column may have one of these values."""
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
