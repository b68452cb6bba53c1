"""Functions whose results can be far larger than their arguments, with a limit on what one call may make.

DataFusion computes such a result in one piece, while it plans if the arguments are constants, and an allocation that
fails ends the process. So the size of a result is computed from the arguments first. These functions stand in place of
DataFusion's own of the same name, or `parser/typed/bounds.py` writes them. Each computes a whole batch with Arrow's
kernels.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datafusion import ScalarUDF, SessionContext, udf

from pinakes.core.arrays.nan import usual_nan_array
from pinakes.core.errors import ExecutionError, OutOfMemory
from pinakes.engine.datafusion.json_functions import json_function
from pinakes.engine.datafusion.library_functions import histogram, list_aggregate, list_sum, list_where, mode
from pinakes.parser.typed import GATHERED, LATE, PATTERN, SERIES, SHORT, SQUARES, STEPS, WEIGHED, WIDE
from pinakes.parser.typed.pattern_cost import check_pattern, regex_cost

_COUNTING = frozenset({"repeat", "$lpad", "$rpad", SERIES})
_TEXT, _NUMBER, _DOUBLE = pa.string(), pa.int64(), pa.float64()
MOST = 1 << 30
"""Bytes that one call may make of a batch, however much memory there is: an array of texts ends at twice as many."""
LEAST = 1 << 24
MOST_OF_ROW = 1 << 24
"""Bytes that one call may make of a single row, since that may be a constant: the optimiser copies constants and writes
them into texts of plans. Functions whose names end in `LATE` are not computed while a statement is planned."""
_LARGE = 1 << 20
"""Bytes from which a result counts with all others that are in use."""
MOST_IN_ALL = 1 << 28
"""Bytes that results of functions may have together where memory_limit is smaller."""
_MOST_COUNTS = 10_000
"""Aggregates whose bytes are counted at the same time."""
MOST_STEPS = 2_000_000_000
"""Steps of a function that compares each character with each other: two or three seconds."""


MOST_OF_PATTERNS = 1_000_000
"""Units of `parser/typed/pattern_cost.py` of the patterns in a batch: some seconds."""


def result_limit(memory_limit: int) -> int:
    """The bytes that one call may make of a batch."""
    return min(MOST, max(LEAST, memory_limit // 4))


def register_bounded_functions(context: SessionContext, limit: int) -> None:
    for function in _functions(limit):
        context.register_udf(function)


@lru_cache(maxsize=8)
def _functions(limit: int) -> tuple[ScalarUDF, ...]:
    bounds = Bounds(limit)
    moment = pa.timestamp("ns")
    known: tuple[tuple[str, Callable[..., pa.Array], Sequence[pa.DataType], pa.DataType], ...] = (
        ("repeat", bounds.repeat, (_TEXT, _NUMBER), _TEXT),
        ("replace", bounds.replace, (_TEXT, _TEXT, _TEXT), _TEXT),
        ("$lpad", bounds.lpad, (_TEXT, _NUMBER, _TEXT), _TEXT),
        ("$rpad", bounds.rpad, (_TEXT, _NUMBER, _TEXT), _TEXT),
        (SERIES, bounds.series, (_NUMBER, _NUMBER, _NUMBER, pa.bool_()), pa.list_(_NUMBER)),
        (STEPS, bounds.steps, (moment, moment, pa.month_day_nano_interval()), pa.month_day_nano_interval()),
        (WEIGHED, bounds.weighed, (_TEXT, _NUMBER, _NUMBER), _TEXT),
        (WIDE, bounds.wide, (_TEXT, _NUMBER), _TEXT),
        (SHORT, bounds.short, (_TEXT, _NUMBER), _TEXT),
        (PATTERN, bounds.pattern, (_TEXT, _NUMBER), _TEXT),
        (SQUARES, bounds.squares, (_TEXT,), _TEXT),
    )
    late = Bounds(limit, late=True)
    return (
        *(udf(function, list(takes), gives, "immutable", name) for name, function, takes, gives in known),
        udf(bounds.gathered, [pa.string_view(), _NUMBER], pa.string_view(), "volatile", GATHERED),
        *(
            udf(getattr(late, function.__name__), list(takes), gives, "volatile", name + LATE)
            for name, function, takes, gives in known
            if name in _COUNTING
        ),
    )


def typed_function(name: str, type: pa.DataType, limit: int) -> tuple[str, ScalarUDF]:
    """A function over values of one type, and the name that it is registered by."""
    called = f"${name} {type}"
    bounds = Bounds(limit)
    match name:
        case "weighed":
            made = udf(bounds.weighed, [type, _NUMBER, _NUMBER], type, "immutable", called)
        case "wide":
            made = udf(bounds.wide, [type, _NUMBER], type, "immutable", called)
        case "narrow":
            made = udf(bounds.narrow, [type, _NUMBER], pa.bool_(), "volatile", called)
        case "gathered":
            made = udf(bounds.gathered, [type, _NUMBER], type, "volatile", called)
        case "squares":
            made = udf(bounds.squares, [type], type, "immutable", called)
        case "usual_nan":
            made = udf(usual_nan_array, [type], type, "immutable", called)
        case "mode":
            made = udf(mode, [type], type.value_type, "immutable", called)
        case "histogram":
            made = udf(histogram, [type], pa.map_(type.value_type, _NUMBER), "immutable", called)
        case "list_sum":
            from pinakes.parser.functions.lists import sum_type  # loaded by then

            made = udf(list_sum, [type], sum_type(type.value_type), "immutable", called)
        case "list_where":
            made = udf(list_where, [type, pa.list_(pa.bool_())], type, "immutable", called)
        case _ if name.startswith("list_"):
            from pinakes.parser.functions.lists import aggregate_type  # loaded by then

            made = udf(partial(list_aggregate, name), [type], aggregate_type(name, type), "immutable", called)
        case "array_repeat":
            made = udf(bounds.array_repeat, [type, _NUMBER], pa.list_(type), "immutable", called)
        case "array_resize":
            made = udf(bounds.array_resize, [type, _NUMBER, type.value_type], type, "immutable", called)
        case "to_json" | "nested_text" | "json_object" | "json_array" | "json_build_array":
            made = json_function(name, type, called, limit)
        case _:
            raise AssertionError(name)
    return called, made


class _Counts:
    """Bytes by the number of an aggregate; those of the plans that ran last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, int] = {}

    def add(self, number: int, size: int) -> int:
        with self._lock:
            total = self._counts.pop(number, 0) + size
            self._counts[number] = total
            if len(self._counts) > _MOST_COUNTS:
                self._counts.pop(next(iter(self._counts)))
            return total


class Bounds:
    """The functions, with their limit in bytes; `late` are those that are never computed while planning."""

    def __init__(self, limit: int, *, late: bool = False) -> None:
        self._limit = limit
        self._of_row = limit if late else min(limit, MOST_OF_ROW)
        self._gathered = _Counts()

    def _check(self, name: str, size: float, rows: int) -> None:
        if size > _LARGE and size + pa.total_allocated_bytes() > max(MOST_IN_ALL, 4 * self._limit):
            raise OutOfMemory(
                f"{name} would make {size:,.0f} bytes, which are more than are left of memory_limit for the results of "
                "functions: ask for less, or try again when other statements have ended"
            )
        limit = self._limit if rows > 1 else self._of_row
        if size > limit:
            of = "one row" if rows == 1 else f"a batch of {rows:,} rows"
            raise OutOfMemory(
                f"{name} would make more than {limit:,} bytes of {of}, which is the limit for a "
                f"single call. Ask for less, SET batch_size lower, or raise memory_limit in the configuration: the "
                f"limit is a quarter of it, and never more than {MOST:,} bytes."
            )

    # --- texts -----------------------------------------------------------------------------------------------------

    def repeat(self, values: pa.Array, times: pa.Array) -> pa.Array:
        times = pc.max_element_wise(times, pa.scalar(0, _NUMBER), skip_nulls=False)
        self._check("repeat", _total(pc.multiply(_lengths(values), times.cast(_DOUBLE))), len(values))
        return pc.binary_repeat(values, times)

    def replace(self, values: pa.Array, old: pa.Array, new: pa.Array) -> pa.Array:
        olds, news = _lengths(old), _lengths(new)
        most = pc.divide(_lengths(values), pc.max_element_wise(olds, 1.0, skip_nulls=False))
        if _total(_lengths(values)) + _total(pc.multiply(most, news)) > self._of_row:
            rows = zip(values.to_pylist(), old.to_pylist(), new.to_pylist(), strict=True)
            size = sum(
                len(v.encode()) + (v.count(o) if o else 0) * (len(n.encode()) - len(o.encode()))
                for v, o, n in rows
                if None not in (v, o, n)
            )
            self._check("replace", size, len(values))
        valid = pc.and_(old.is_valid(), new.is_valid())
        if len(values) and pc.all(valid).as_py() and _is_one(old) and _is_one(new):
            pattern = old[0].as_py()
            return pc.replace_substring(values, pattern, new[0].as_py()) if pattern else values
        rows = zip(values.to_pylist(), old.to_pylist(), new.to_pylist(), strict=True)
        return pa.array([None if None in (v, o, n) else v.replace(o, n) if o else v for v, o, n in rows], _TEXT)

    def lpad(self, values: pa.Array, widths: pa.Array, fills: pa.Array) -> pa.Array:
        kept, padding = self._padded("lpad", values, widths, fills)
        return pc.binary_join_element_wise(padding, kept, "")

    def rpad(self, values: pa.Array, widths: pa.Array, fills: pa.Array) -> pa.Array:
        kept, padding = self._padded("rpad", values, widths, fills)
        return pc.binary_join_element_wise(kept, padding, "")

    def _padded(self, name: str, values: pa.Array, widths: pa.Array, fills: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The texts cut to their widths, and what is to be put before or behind each."""
        if widths.null_count or fills.null_count:  # also where nothing is filled in
            values = pc.if_else(pc.and_(widths.is_valid(), fills.is_valid()), values, pa.scalar(None, _TEXT))
        widths = pc.max_element_wise(widths, pa.scalar(0, _NUMBER), skip_nulls=False)
        # A character of UTF-8 has up to as many bytes as the longest of the fill has.
        wide = pc.if_else(pc.equal(_lengths(fills), pc.utf8_length(fills).cast(_DOUBLE)), 1.0, 4.0)
        missing = pc.if_else(
            pc.equal(pc.utf8_length(fills), 0), 0.0, pc.subtract(widths.cast(_DOUBLE), _characters(values))
        )
        missing = pc.max_element_wise(missing, 0.0, skip_nulls=False)
        self._check(name, _total(_lengths(values)) + _total(pc.multiply(missing, wide)), len(values))
        lengths = pc.utf8_length(values).cast(_NUMBER)
        if pc.any(pc.less(widths, lengths)).as_py():
            values = _cut(values, widths)
        return values, _fillings(fills, missing.cast(_NUMBER))

    def weighed(self, values: pa.Array, weights: pa.Array, widest: pa.Array) -> pa.Array:
        """The values as they are, if a result of so many times their size is allowed."""
        if len(values):
            weight = weights[0].as_py()
            self._check("this function call", float(values.nbytes) * weight, max(len(values), 2))
            _check_widest(values, weight, widest[0].as_py())
        return values

    def wide(self, values: pa.Array, widest: pa.Array) -> pa.Array:
        """The values as they are, if none has more bytes than a row of this plan may have: a join repeats rows, and
        what follows copies a batch of them."""
        if len(values):
            _check_widest(values, 1, widest[0].as_py())
        return values

    def narrow(self, values: pa.Array, widest: pa.Array) -> pa.Array:
        """True for each value; an error if one has more bytes than a row of this plan may have."""
        if len(values):
            _check_widest(values, 1, widest[0].as_py())
        return _all_true(len(values))

    def gathered(self, values: pa.Array, number: pa.Array) -> pa.Array:
        """The values as they are, if those that one aggregate of one plan has had until now are not too many bytes.
        Texts are views, since rows that a join repeats share their bytes until they are put together."""
        if not len(values):
            return values
        size = values.nbytes
        if values.type == pa.string_view():
            size += int(_view_lengths(values).sum(dtype=np.int64))
        if self._gathered.add(number[0].as_py(), size) > 2 * self._limit:
            raise OutOfMemory(
                f"string_agg or array_agg would keep more than {2 * self._limit:,} bytes: aggregate fewer or shorter "
                "values, or raise memory_limit in the configuration"
            )
        return values

    def short(self, values: pa.Array, most: pa.Array) -> pa.Array:
        """Texts as they are, if none has more bytes than allowed."""
        if len(values) and (pc.max(pc.binary_length(values)).as_py() or 0) > most[0].as_py():
            raise OutOfMemory(
                f"a pattern, format, replacement or separator that is not a constant may have up to "
                f"{most[0].as_py():,} bytes"
            )
        return values

    def pattern(self, values: pa.Array, most: pa.Array) -> pa.Array:
        """Patterns as they are, if none has too many bytes, and all of a batch can be compiled in a short time."""
        self.short(values, most)
        cost = 0
        for pattern in values.unique().to_pylist():
            if pattern is not None:
                if (wrong := check_pattern(pattern)) is not None:
                    raise OutOfMemory(wrong)
                cost += regex_cost(pattern)
        if cost > MOST_OF_PATTERNS:
            raise OutOfMemory("the patterns of a batch are too complex together: use simpler ones, or fewer")
        any_text = pc.equal(values, ".*")  # DataFusion would make IS NOT NULL of a constant one
        return pc.if_else(any_text, "(?:.*)", values) if pc.any(any_text).as_py() else values

    def squares(self, values: pa.Array) -> pa.Array:
        """Texts or lists as they are, if each part may be compared with each of another such column: the products of
        two columns' lengths have no larger sum than the larger of the sums of squares."""
        is_list = pa.types.is_list(values.type)
        lengths = pc.list_value_length(values).cast(_DOUBLE) if is_list else _lengths(values)
        if _total(pc.multiply(lengths, lengths)) > (MOST_STEPS // 20 if is_list else MOST_STEPS):
            raise OutOfMemory(
                "these lists are too long to be compared element by element: unnest and join them"
                if is_list
                else "these texts are too long to be compared character by character: shorten them with left(…)"
            )
        return values

    # --- lists -----------------------------------------------------------------------------------------------------

    def series(self, starts: pa.Array, stops: pa.Array, steps: pa.Array, inclusive: pa.Array) -> pa.Array:
        """range() and generate_series() of integers."""
        valid = pc.and_(pc.and_(starts.is_valid(), stops.is_valid()), steps.is_valid())
        first, last, step = (np.asarray(pc.fill_null(a, 0)).astype(np.int64) for a in (starts, stops, steps))
        known = np.asarray(valid)
        step[~known] = 1
        if (step == 0).any():
            raise ExecutionError("the step of range() and generate_series() cannot be 0")
        up = step > 0
        ends = np.asarray(inclusive).astype(bool)
        some = known & np.where(
            ends, np.where(up, first <= last, first >= last), np.where(up, first < last, first > last)
        )
        with np.errstate(over="ignore"):
            distance = np.where(up, last - first, first - last).astype(np.uint64)  # right also where it wraps around
            width = np.where(up, step, -step).astype(np.uint64)
        counts = np.where(some, np.where(ends, distance // width, (distance - np.uint64(1)) // width), 0).astype(
            np.uint64
        )
        self._check("range", float(counts.astype(np.float64).sum() + some.sum()) * 8, len(starts))
        sizes = np.where(some, counts.astype(np.int64) + 1, 0)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        if len(first) == 1:
            with np.errstate(over="ignore"):
                values = first[0] + step[0] * np.arange(sizes[0], dtype=np.int64)
        else:
            rank = np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], sizes)
            with np.errstate(over="ignore"):
                values = np.repeat(first, sizes) + np.repeat(step, sizes) * rank
        return _list(offsets, pa.array(values, _NUMBER), known)

    def steps(self, starts: pa.Array, stops: pa.Array, steps: pa.Array) -> pa.Array:
        """The steps of a series of times as they are, if these do not lead to too many times."""
        size = 0.0
        rows = zip(starts.cast(_NUMBER).to_pylist(), stops.cast(_NUMBER).to_pylist(), steps.to_pylist(), strict=True)
        for start, stop, step in rows:
            if None not in (start, stop, step):
                length = abs((step.months * 28 + step.days) * 86_400_000_000_000 + step.nanoseconds)
                size += 8 * abs(stop - start) / max(length, 1)
        self._check("range", size, len(starts))
        return steps

    def array_repeat(self, values: pa.Array, times: pa.Array) -> pa.Array:
        counts = np.maximum(np.asarray(pc.fill_null(times, 0)).astype(np.int64), 0)
        self._check("array_repeat", sizes(values) @ counts.astype(np.float64), len(values))
        offsets = np.concatenate(([0], np.cumsum(counts)))
        taken = values.take(pa.array(np.repeat(np.arange(len(values)), counts), _NUMBER))
        return _list(offsets, taken, np.asarray(times.is_valid()), values.type)

    def array_resize(self, lists: pa.Array, lengths: pa.Array, fills: pa.Array) -> pa.Array:
        wanted = np.asarray(pc.fill_null(lengths, 0)).astype(np.int64)
        if (wanted < 0).any():
            raise ExecutionError("array_resize() needs a length that is not negative")
        known = np.asarray(pc.and_(lists.is_valid(), lengths.is_valid()))
        wanted = np.where(known, wanted, 0)
        had = np.asarray(pc.fill_null(pc.list_value_length(lists), 0)).astype(np.int64)
        added = np.maximum(wanted - had, 0)
        self._check("array_resize", float(lists.nbytes) + sizes(fills) @ added.astype(np.float64), len(lists))
        kept = np.minimum(had, wanted)
        begins = np.asarray(lists.offsets)[:-1].astype(np.int64)
        offsets = np.concatenate(([0], np.cumsum(kept + added)))
        rank = np.arange(offsets[-1], dtype=np.int64) - np.repeat(offsets[:-1], kept + added)
        rows = np.repeat(np.arange(len(lists)), kept + added)
        items, has = lists.values, len(lists.values)
        indices = np.where(rank < kept[rows], begins[rows] + rank, has + rows)
        both = pa.concat_arrays([items, fills])
        return _list(offsets, both.take(pa.array(indices, _NUMBER)), known, items.type, lists.type)


_TOO_WIDE = re.compile(r"(\d+) bytes of a value are more than")


def bytes_of_wide_value(error: OutOfMemory) -> int | None:
    """The bytes of the value that was too long for the batches of its plan; None for another error. They are in the
    message, since nothing else of an error crosses DataFusion."""
    found = _TOO_WIDE.match(error.message)
    return None if found is None else int(found.group(1))


def _check_widest(values: pa.Array, weight: int, most: int) -> None:
    is_view = pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type)
    if not is_view and values.nbytes * weight <= most:
        return
    longest = np.max(_view_lengths(values)) if is_view else np.max(sizes(values))
    size = float(longest) * weight
    if size > most:
        raise OutOfMemory(
            f"{size:.0f} bytes of a value are more than the {most:,} that one may have in batches of this size: SET "
            "batch_size lower"
        )


@lru_cache(maxsize=64)
def _all_true(rows: int) -> pa.Array:
    return pa.array(np.ones(rows, np.bool_))


def _view_lengths(values: pa.Array) -> Any:
    """The bytes of each text of a column of views; any number where it is NULL."""
    views = np.frombuffer(values.buffers()[1], np.int32)  # four numbers each, of which the first is the length
    lengths = views[values.offset * 4 : (values.offset + len(values)) * 4 : 4]
    return np.where(np.asarray(values.is_valid()), lengths, 0) if values.null_count else lengths


def _lengths(values: pa.Array) -> pa.Array:
    return pc.binary_length(values).cast(_DOUBLE)


def _characters(values: pa.Array) -> pa.Array:
    return pc.utf8_length(values).cast(_DOUBLE)


def _total(sizes: pa.Array) -> float:
    return float(pc.sum(sizes).as_py() or 0.0)


def _is_one(values: pa.Array) -> bool:
    """Whether all values are the same."""
    return len(values) == 1 or bool(pc.all(pc.equal(values, values[0])).as_py())


def _cut(values: pa.Array, widths: pa.Array) -> pa.Array:
    """The first characters of each text."""
    if widths.null_count == 0 and _is_one(widths):
        return pc.utf8_slice_codeunits(values, 0, widths[0].as_py())
    rows = zip(values.to_pylist(), widths.to_pylist(), strict=True)
    return pa.array([None if v is None or w is None else v[:w] for v, w in rows], _TEXT)


def _fillings(fills: pa.Array, missing: pa.Array) -> pa.Array:
    """Each fill, repeated and cut to the characters that are missing."""
    if fills.null_count == 0 and _is_one(fills) and len(fills[0].as_py()) <= 1:
        return pc.binary_repeat(fills, missing)
    rows = zip(fills.to_pylist(), missing.to_pylist(), strict=True)
    known: dict[tuple[str, int], str] = {}
    found: list[str | None] = []
    for fill, count in rows:
        if fill is None or count is None:
            found.append(None)
            continue
        if (fill, count) not in known:
            known[fill, count] = (fill * (count // len(fill) + 1))[:count] if fill else ""
        found.append(known[fill, count])
    return pa.array(found, _TEXT)


def sizes(values: pa.Array) -> Any:
    """The bytes of each value; at least one."""
    kind = values.type
    if isinstance(values, pa.ExtensionArray):
        return sizes(values.storage)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return sizes(values.cast(pa.large_binary()))
    if any(check(kind) for check in (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string)):
        return np.asarray(pc.fill_null(pc.binary_length(values), 0)).astype(np.float64) + 4
    if pa.types.is_large_binary(kind):
        return np.asarray(pc.fill_null(pc.binary_length(values), 0)).astype(np.float64) + 8
    if pa.types.is_struct(kind):
        return sum((sizes(member) for member in values.flatten()), np.ones(len(values)))
    if pa.types.is_map(kind):
        counts = np.diff(np.asarray(values.offsets)).astype(np.int64)
        start = values.offsets[0].as_py() if len(values) else 0
        members = (values.keys, values.items)
        items = sum(sizes(member.slice(start, int(counts.sum()))) for member in members)
        return _sums(items, counts) + 4
    if any(check(kind) for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)):
        counts = np.asarray(pc.fill_null(pc.list_value_length(values), 0)).astype(np.int64)
        return _sums(sizes(values.flatten()), counts) + 4
    try:
        return np.full(len(values), max(kind.bit_width / 8, 1.0))
    except ValueError:
        return np.full(len(values), float(values.nbytes))


def _sums(items: Any, counts: Any) -> Any:
    """The sums of so many items each, one after the other."""
    before, ends = np.concatenate(([0.0], np.cumsum(items))), np.cumsum(counts)
    return before[ends] - before[ends - counts]


def _list(
    offsets: Any, values: pa.Array, known: Any, item: pa.DataType | None = None, type: pa.DataType | None = None
) -> pa.Array:
    offsets = offsets.astype(np.int32)
    mask = None if known.all() else pa.array(~known)
    made = pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)
    return made.cast(type or pa.list_(item or _NUMBER)) if made.type != (type or pa.list_(item or _NUMBER)) else made
