"""Mathematical functions that report arguments outside of their domain, and overflow, as PostgreSQL does.

DataFusion's own give NaN or an infinity. These are registered under the same names. They take and give DOUBLE, so that
every other number is cast to it; they are Arrow's kernels, which compute a batch at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datafusion import ScalarUDF, SessionContext, udf

from pinakes.core.errors import ExecutionError
from pinakes.parser.typed import NANOSECONDS, NONZERO, ONE_ROW, ROUNDED

_INFINITY = float("inf")


def register_checked_functions(context: SessionContext) -> None:
    """Put them in place of DataFusion's."""
    for function in _functions():
        context.register_udf(function)


@cache
def _functions() -> tuple[ScalarUDF, ...]:
    double = pa.float64()
    ones = {**_BY_KERNEL, "exp": _exp, ROUNDED: _rounded}
    pairs = {"power": _power, "pow": _power, "log": _log, NONZERO: _nonzero}
    return (
        *(
            udf(function, [double] * count, double, "immutable", name)
            for count, functions in ((1, ones), (2, pairs))
            for name, function in functions.items()
        ),
        udf(_nanoseconds, [pa.month_day_nano_interval()], pa.decimal128(38, 0), "immutable", NANOSECONDS),
        udf(_one_row, [pa.int64()], pa.bool_(), "immutable", ONE_ROW),
    )


def _by_kernel(kernel: Callable[[pa.Array], pa.Array], error: str) -> Callable[[pa.Array], pa.Array]:
    def compute(values: pa.Array) -> pa.Array:
        try:
            return kernel(values)
        except pa.ArrowInvalid:
            raise ExecutionError(error) from None

    return compute


_LOGARITHM = "cannot take the logarithm of zero or of a negative number: leave such rows out with CASE or NULLIF"
_ANGLE = "{0}() of an infinity is not defined"
_RANGE = "{0}() is defined for numbers from -1 to 1 only"
_BY_KERNEL = {
    "ln": _by_kernel(pc.ln_checked, _LOGARITHM),
    "log2": _by_kernel(pc.log2_checked, _LOGARITHM),
    "log10": _by_kernel(pc.log10_checked, _LOGARITHM),
    **{name: _by_kernel(getattr(pc, f"{name}_checked"), _ANGLE.format(name)) for name in ("sin", "cos", "tan")},
    **{name: _by_kernel(getattr(pc, f"{name}_checked"), _RANGE.format(name)) for name in ("asin", "acos", "atanh")},
}


def _exp(values: pa.Array) -> pa.Array:
    found = pc.exp(values)
    _refuse(pc.and_(_is_infinite(found), pc.is_finite(values)), "exp() overflows: its result is too large for DOUBLE")
    return found


def _nonzero(divisors: pa.Array, dividends: pa.Array) -> pa.Array:
    """The divisors. Rules of `parser/typed` put it where doubles are divided. NULL and NaN may be divided by zero."""
    zero = pc.equal(divisors, 0.0)
    if _any(zero):
        _refuse(pc.and_(zero, pc.invert(pc.is_nan(dividends))), "division by zero")
    return divisors


def _one_row(counts: pa.Array) -> pa.Array:
    """True. `parser/subqueries` puts it before the value of a scalar subquery."""
    found = pc.less_equal(counts, 1)
    _refuse(pc.invert(found), "more than one row returned by a subquery used as an expression")
    return found


def _rounded(values: pa.Array) -> pa.Array:
    return pc.round(values, round_mode="half_to_even")


_FIELDS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
_DAY = 86_400_000_000_000


def _nanoseconds(intervals: pa.Array) -> pa.Array:
    """The exact length of intervals. date_part('epoch', …) is a DOUBLE, which has microseconds up to 285 years only."""
    fields = np.frombuffer(intervals.buffers()[1], _FIELDS, len(intervals), intervals.offset * _FIELDS.itemsize)
    days = pa.array(fields["months"] * np.int64(30) + fields["days"]).cast(pa.decimal128(19, 0))
    total = pc.add(pc.multiply(days, Decimal(_DAY)), pa.array(fields["nanoseconds"]).cast(pa.decimal128(19, 0)))
    return pc.if_else(intervals.is_valid(), total.cast(pa.decimal128(38, 0)), None)


def _power(base: pa.Array, exponent: pa.Array) -> pa.Array:
    found = pc.power(base, exponent)
    finite = pc.and_(pc.is_finite(base), pc.is_finite(exponent))
    odd = pc.and_(finite, pc.invert(pc.is_finite(found)))
    if _any(odd):
        zero = pc.and_(pc.equal(base, 0.0), pc.less(exponent, 0.0))
        _refuse(pc.and_(odd, zero), "zero raised to a negative power is undefined")
        _refuse(pc.and_(odd, pc.is_nan(found)), "a negative number raised to a power that is not whole is undefined")
        _refuse(odd, "power() overflows: its result is too large for DOUBLE")
    return found


def _log(base: pa.Array, values: pa.Array) -> pa.Array:
    """Of any base. `log(x)`, of base 10, is another function: `parser/rewrites.py`."""
    _refuse(pc.or_(pc.less_equal(values, 0.0), pc.less_equal(base, 0.0)), _LOGARITHM)
    _refuse(pc.equal(base, 1.0), "a logarithm of base 1 is undefined")
    found = pc.if_else(pc.equal(base, 2.0), pc.log2(values), pc.logb(values, base))
    return pc.if_else(pc.equal(base, 10.0), pc.log10(values), found)


def _is_infinite(values: pa.Array) -> Any:
    return pc.equal(pc.abs(values), _INFINITY)


def _any(condition: Any) -> bool:
    return bool(pc.any(condition).as_py())


def _refuse(condition: Any, error: str) -> None:
    if _any(condition):
        raise ExecutionError(error)
