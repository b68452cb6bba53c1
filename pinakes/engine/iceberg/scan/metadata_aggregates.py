"""Answers count(*), count(column), min and max of a table from its metadata, without reading data files.

This applies only if the result is exact: there are no deleted rows and no predicates, and every manifest entry has the
counts. Bounds of strings may be truncated, and those of floating-point numbers leave out NaN: their minimum and maximum
are read from the data. If one aggregate cannot be answered, the statement uses the scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from datafusion import DataFrame, Expr, SessionContext
from datafusion.plan import LogicalPlan
from pyarrow import types as is_
from pyiceberg.types import NestedField

from pinakes.engine.iceberg.scan.bounds import kind_of
from pinakes.engine.iceberg.scan.snapshot import SnapshotFiles
from pinakes.engine.pushdown import predicate as p
from pinakes.engine.pushdown.expressions import named_aggregate, read

if TYPE_CHECKING:
    from pinakes.engine.iceberg.scan.table import IcebergScan

_SUBQUERY = "<subquery>"
_ZERO, _EVERY_ROW = p.Literal(pa.scalar(0)), p.Literal(pa.scalar(1))
"""LIMIT 0 and the argument of `count(*)`."""


def answered(plan: LogicalPlan, scan: IcebergScan, context: SessionContext) -> DataFrame | None:
    """Returns a plan over the computed values; None if the optimised plan has another form or the metadata is not
    sufficient.
    """
    found = _aggregate(plan, scan.placeholder.name)
    if found is None or scan.files.deletes or not scan.files.are_different:
        return None
    facts = _Facts(scan.files, {f.name: f for f in scan.iceberg_schema.fields}, scan.schema)
    names, values = [], []
    for name, call in found.aggregates:
        value = None if call is None else facts.answer(call.function, *call.arguments)
        if value is None:
            return None
        names.append(name)
        values.append(value)
    row = SessionContext().create_dataframe([[pa.RecordBatch.from_arrays(values, names=names)]]).into_view()
    frame = context.read_table(row)
    for projection in reversed(found.projections):
        frame = frame.select(*projection)
    return frame


@dataclass(frozen=True, slots=True)
class _Found:
    """The aggregates over a table, and the projections over them, outermost first."""

    aggregates: list[tuple[str, p.Call | None]]
    projections: list[list[Expr]]


def _aggregate(plan: LogicalPlan, table: str) -> _Found | None:
    projections: list[list[Expr]] = []
    while True:
        node = plan.to_variant()
        match type(node).__name__:
            case "Projection":
                projections.append([Expr(e) for e in node.projections()])
                if any(_SUBQUERY in str(e) for e in projections[-1]):
                    return None
            case "Limit":  # over the single row
                if not _keeps_one(node.skip(), node.fetch()):
                    return None
            case "Aggregate":
                if not _is_whole(plan.inputs()[0], table) or node.group_by_exprs():
                    return None
                return _Found([named_aggregate(node, e) for e in node.aggregate_exprs()], projections)
            case _:
                return None
        (plan,) = plan.inputs()


def _keeps_one(skip: Expr | None, fetch: Expr | None) -> bool:
    skipped, fetched = (None if e is None else read(e) for e in (skip, fetch))
    return skipped in (None, _ZERO) and fetched != _ZERO


def _is_whole(plan: LogicalPlan, table: str) -> bool:
    """Whether a plan is the unfiltered scan of the table, below any aliases."""
    node = plan.to_variant()
    while type(node).__name__ == "SubqueryAlias":
        (plan,) = plan.inputs()
        node = plan.to_variant()
    is_scan = type(node).__name__ == "TableScan" and node.table_name() == table
    return is_scan and not node.filters() and node.fetch() is None


class _Facts:
    """Metadata of all files of a snapshot."""

    def __init__(self, files: SnapshotFiles, fields: dict[str, NestedField], schema: pa.Schema) -> None:
        self._files, self._fields, self._schema = files, fields, schema
        self._rows = files.table.column("record_count")

    def answer(self, function: str, argument: p.Predicate) -> pa.Array | None:
        """Returns the value of an aggregate as a column of one row."""
        if function == "count" and argument == _EVERY_ROW:
            return _one(pc.sum(self._rows, min_count=0), pa.int64())
        field = self._fields.get(argument.name) if isinstance(argument, p.ColumnRef) and not argument.path else None
        if field is None or function not in ("count", "min", "max") or not self._is_counted(field.field_id):
            return None
        if function == "count":
            nulls = self._files.counts("null_value_counts", field.field_id)
            return _one(pc.subtract(pc.sum(self._rows, min_count=0), pc.sum(nulls, min_count=0)), pa.int64())
        return self._extreme(field, function)

    def _is_counted(self, field_id: int) -> bool:
        """Returns whether every file has the counts of values and NULLs of a column."""
        values, nulls = (self._files.counts(c, field_id) for c in ("value_counts", "null_value_counts"))
        return nulls.null_count == 0 and bool(pc.all(pc.fill_null(pc.equal(values, self._rows), False)).as_py())

    def _extreme(self, field: NestedField, function: str) -> pa.Array | None:
        kind = kind_of(field.field_type)
        known = self._files.bounds(field.field_id, kind) if kind is not None and _is_exact(kind) else None
        if known is None:
            return None
        bounds = known.least if function == "min" else known.greatest
        nothing = pc.equal(self._files.counts("null_value_counts", field.field_id), self._rows)
        if not pc.all(pc.or_(nothing, pc.is_valid(bounds))).as_py():
            return None
        found = pc.min_max(pc.if_else(nothing, pa.scalar(None, bounds.type), bounds))
        return _one(found[function], self._schema.field(field.name).type)


def _is_exact(kind: pa.DataType) -> bool:
    return bool(is_.is_integer(kind) or is_.is_temporal(kind) or is_.is_decimal(kind))


def _one(value: pa.Scalar, kind: pa.DataType) -> pa.Array:
    return pa.array([value.as_py()], value.type).cast(kind)
