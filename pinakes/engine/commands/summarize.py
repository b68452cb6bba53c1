"""SUMMARIZE: one query computes the aggregates of all columns, by their types, and each column becomes a row.

Counts, minima, maxima and averages are exact: whole numbers, decimals and times are summed as decimals wide enough for
any number of rows, and divided once. Distinct values and quantiles are estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datafusion import DataFrame, Expr, col, literal
from datafusion import functions as f
from pyarrow import types as is_

from pinakes.core.output.value_format import as_text, plain
from pinakes.core.types.arrow_names import sql_name_of_arrow, unwrap_type
from pinakes.engine.datafusion.error_translation import translated
from pinakes.engine.datafusion.plan_schema import schema_of
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import Summarize

if TYPE_CHECKING:
    from pinakes.engine.planning.plan import Plan
    from pinakes.engine.planning.planner import Planner


def summarize(statement: Summarize, execution: Execution) -> Result:
    """SUMMARIZE table | query: returns one row per column with range, average, quantiles and percentage of NULLs."""
    planner = execution.planner()
    text = planner.rewrite(statement, statement.table.span if statement.table else statement.body)
    body = f"SELECT * FROM {text.text}" if statement.table else text.text
    schema = schema_of(planner.plan(body, statement, None if statement.table else text.locate).frame)
    names = _stored_types(statement, planner) or [sql_name_of_arrow(t) for t in schema.types]
    columns = tuple(_Column(f.name, name, f.type) for f, name in zip(schema, names, strict=True))
    called = ", ".join(f'"c{i}"' for i in range(len(columns)))  # whatever their names, also one name twice
    plan = planner.plan(f'SELECT * FROM ({body}\n) AS "$body"({called})', statement)
    with translated():
        return Result(_SCHEMA, _summary(plan.derive(_Aggregates(columns)), columns, execution))


def _stored_types(statement: Summarize, planner: Planner) -> list[str] | None:
    """The types that a table of a catalog was made with: a query reads a uuid as text."""
    table = statement.table
    if table is None or table.call is not None or table.name.is_path:
        return None
    stored = planner.named(table.name).table
    if stored is None:
        return None
    from pinakes.core.types.sql import sql_name

    return [sql_name(f.field_type) for f in stored.handle.schema().fields]


def _summary(plan: Plan, columns: Sequence[_Column], execution: Execution) -> Iterator[pa.RecordBatch]:
    found = _summary_rows(execution.collect(plan), columns)
    arrays = [pa.array(v, f.type) for v, f in zip(zip(*found, strict=True), _SCHEMA, strict=True)]
    yield pa.record_batch(arrays, schema=_SCHEMA)


QUANTILES = (0.25, 0.5, 0.75)
_DAY = 86_400_000_000
_SUMMABLE, _WIDEST = 28, 66
"""The digits of values whose sum is kept in 38, or in 76: ten more, which is enough for ten billion rows."""
_EXACT = Context(prec=400)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of what is summarized: `name` and `type` as they are shown, `arrow` as it is read."""

    name: str
    type: str
    arrow: pa.DataType

    @property
    def values(self) -> pa.DataType:
        """The type of its values, however they are encoded."""
        inner, found = self.arrow, unwrap_type(self.arrow)
        while found is not None:
            inner, found = found, unwrap_type(found)
        return inner

    @property
    def is_number(self) -> bool:
        t = self.values
        return bool(is_.is_integer(t) or is_.is_floating(t) or is_.is_decimal(t))

    @property
    def is_time(self) -> bool:
        return _is_time(self.values)

    @property
    def has_exact_sum(self) -> bool:
        """Decimals of more digits than these have no wider one to be summed in."""
        t = self.values
        exact = self.is_time or (self.is_number and not is_.is_floating(t))
        return exact and not (is_.is_decimal(t) and t.precision > _WIDEST)

    @property
    def is_nested(self) -> bool:
        return bool(is_.is_nested(self.values))

    @property
    def has_order(self) -> bool:
        """Intervals of months have no order: 30 days and a month can't be compared."""
        return not self.is_nested and not is_.is_interval(self.values)


def _is_time(t: pa.DataType) -> bool:
    return bool(is_.is_timestamp(t) or is_.is_date(t) or is_.is_time(t) or is_.is_duration(t))


# --- aggregates ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Aggregates:
    """One row with the aggregates of all columns of a plan, which are called c0, c1, … there.

    As expressions and not as SQL, whose planner takes time with the square of their number.
    """

    columns: tuple[_Column, ...]

    def of(self, frame: DataFrame) -> DataFrame:
        prepared = frame.select(*(e for i, c in enumerate(self.columns) for e in _prepared(i, c)))
        answers = (e for i, c in enumerate(self.columns) for e in _aggregates(i, c))
        return prepared.aggregate([], [f.count_star().alias("rows"), *answers])


def _prepared(i: int, column: _Column) -> Iterator[Expr]:
    """The values as the aggregates take them, each made once: v as they are, d as DOUBLE, x to be summed exactly, q
    those that have a rank, which neither NaN nor an infinity has."""
    value = (
        _one_nan(col(f"c{i}").cast(column.values), column.values) if is_.is_floating(column.values) else col(f"c{i}")
    )
    yield value.alias(f"v{i}")
    if is_.is_floating(column.values):
        double = value.cast(pa.float64())
        yield double.alias(f"d{i}")
        yield f.when(f.abs(double) < literal(math.inf), double).end().alias(f"q{i}")
    elif column.is_number or column.is_time:
        count = value.cast(pa.int64()) if column.is_time else value
        yield count.cast(pa.float64()).alias(f"d{i}")
        if column.has_exact_sum:
            yield count.cast(_sum_type(column.values)).alias(f"x{i}")


def _one_nan(value: Expr, t: pa.DataType) -> Expr:
    """For DataFusion a NaN with a sign is another value than one without, and less than all numbers."""
    return f.when(f.isnan(value), literal(math.nan).cast(t)).otherwise(value)


def _aggregates(i: int, column: _Column) -> Iterator[Expr]:
    value, double = col(f"v{i}"), col(f"d{i}")
    yield f.count(value).alias(f"filled{i}")
    if not column.is_nested:
        yield f.approx_distinct(_distinct(i, column)).alias(f"distinct{i}")
    if column.has_order:
        yield f.min(value).alias(f"min{i}")
        yield f.max(value).alias(f"max{i}")
    if not (column.is_number or column.is_time):
        return
    yield f.sum(col(f"x{i}")).alias(f"sum{i}") if column.has_exact_sum else f.avg(double).alias(f"avg{i}")
    if column.is_number:
        yield f.stddev(double).alias(f"std{i}")
    ranked = col(f"q{i}") if is_.is_floating(column.values) else double
    for at, quantile in enumerate(QUANTILES):
        yield f.approx_percentile_cont(ranked, quantile).alias(f"q{i}_{at}")


def _distinct(i: int, column: _Column) -> Expr:
    """DataFusion counts distinct values of most types. Of floats and encoded values it does so within a struct; -0 and
    0 are one number."""
    if is_.is_floating(column.values):
        value = col(f"d{i}")
        return f.when(value.is_not_null(), f.struct(value + literal(0.0))).end()
    value = col(f"v{i}")
    return value if column.values == column.arrow else f.when(value.is_not_null(), f.struct(value)).end()


def _sum_type(t: pa.DataType) -> pa.DataType:
    """A decimal that holds the sum of any number of such values."""
    if not is_.is_decimal(t):
        return pa.decimal128(38, 0)
    return pa.decimal128(38, t.scale) if t.precision <= _SUMMABLE else pa.decimal256(76, t.scale)


# --- rows ---------------------------------------------------------------------------------------------------------

_SCHEMA = pa.schema(
    [
        ("column_name", pa.string()),
        ("column_type", pa.string()),
        ("min", pa.string()),
        ("max", pa.string()),
        ("approx_unique", pa.int64()),
        ("avg", pa.string()),
        ("std", pa.string()),
        ("q25", pa.string()),
        ("q50", pa.string()),
        ("q75", pa.string()),
        ("count", pa.int64()),
        ("null_percentage", pa.decimal128(9, 2)),
    ]
)


def _summary_rows(found: pa.Table, columns: Sequence[_Column]) -> Iterator[tuple[object, ...]]:
    """A row for each column, from the one row of the aggregate query."""
    arrays = {name: found.column(at).combine_chunks() for at, name in enumerate(found.column_names)}
    for i, column in enumerate(columns):
        yield _ColumnSummary(i, column, arrays).row()


class _ColumnSummary:
    """The aggregates of one column, as a row."""

    def __init__(self, i: int, column: _Column, arrays: dict[str, pa.Array]) -> None:
        self._i, self._column, self._arrays = i, column, arrays

    def row(self) -> tuple[object, ...]:
        total, filled = self._value("rows"), self._value(f"filled{self._i}")
        distinct = self._value(f"distinct{self._i}")
        return (
            self._column.name,
            self._column.type,
            self._text(f"min{self._i}"),
            self._text(f"max{self._i}"),
            None if distinct is None else min(distinct, filled),
            self._average(filled),
            self._text(f"std{self._i}"),
            *(self._quantile(at) for at in range(len(QUANTILES))),
            total,
            _percentage(total - filled, total),
        )

    def _value(self, name: str) -> Any:
        return self._arrays[name][0].as_py() if name in self._arrays else None

    def _text(self, name: str) -> str | None:
        return _shown(self._arrays[name]) if name in self._arrays else None

    def _average(self, filled: int) -> str | None:
        total = self._value(f"sum{self._i}")
        if total is None:
            return self._text(f"avg{self._i}")
        t = self._column.values
        if is_.is_decimal(t):  # all digits of its values, and no fewer than a DOUBLE has
            return as_text(Context(prec=max(17, t.precision + 4)).divide(total, Decimal(filled)).normalize(_EXACT))
        mean = Fraction(total) / filled
        return as_text(float(mean)) if self._column.is_number else _time_shown(mean, t)

    def _quantile(self, at: int) -> str | None:
        found = self._value(f"q{self._i}_{at}")
        t = self._column.values
        if found is None or is_.is_floating(t):
            return None if found is None else _shown(pa.array([found]).cast(t))
        scale = t.scale if is_.is_decimal(t) else 0
        value = self._within_bounds(Decimal(found).quantize(Decimal(1).scaleb(-scale), context=_EXACT))
        return as_text(value) if self._column.is_number else _shown(_counted(int(value), t))

    def _within_bounds(self, value: Decimal) -> Decimal:
        """A DOUBLE has not all digits of a large number, and might come out beyond the largest."""
        low, high = (_number_of(self._arrays[f"{end}{self._i}"]) for end in ("min", "max"))
        return max(low, min(value, high))


def _shown(array: pa.Array) -> str | None:
    value = plain(array)[0]
    return None if value is None else as_text(value)


def _time_shown(count: Fraction, t: pa.DataType) -> str | None:
    """A point in time between two others; between two days it has an hour."""
    if is_.is_date(t):
        per_unit = _DAY if is_.is_date32(t) else _DAY // 86_400_000
        return _shown(_counted(round(count * per_unit), pa.timestamp("us")))
    return _shown(_counted(round(count), t))


def _counted(count: int, t: pa.DataType) -> pa.Array:
    """The value of a type of times that is so many of its units."""
    return pa.array([count], pa.int32() if t.bit_width == 32 else pa.int64()).cast(t)


def _number_of(array: pa.Array) -> Decimal:
    """The first value; a time as the number of its units."""
    if _is_time(array.type):
        array = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return Decimal(array[0].as_py())


def _percentage(part: int, whole: int) -> Decimal | None:
    if not whole:
        return None
    return (Decimal(part) * 100 / Decimal(whole)).quantize(Decimal("0.01"), ROUND_HALF_UP)
