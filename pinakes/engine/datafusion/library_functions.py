"""Functions of PostgreSQL, DuckDB and Trino that no expression of DataFusion computes; `parser/functions` writes their
calls. Each computes a whole batch with the kernels of Arrow or numpy.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datafusion import ScalarUDF, SessionContext, udf

from pinakes.core.errors import ExecutionError, InvalidArgument, NotSupportedError, OutOfMemory
from pinakes.parser.functions import AGE, ALL_EXTRACTED, BITS, EXTRACTED, FULL_MONTHS, UUID7, UUID_TEXT
from pinakes.parser.typed.texts import UUID_FORM

_TEXT, _NUMBER = pa.string(), pa.int64()
_INTERVAL = pa.month_day_nano_interval()
_FIELDS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
_DAY = 86_400_000_000
_MOST_PATTERNS = 50_000
"""Regular expressions that are compiled for one batch: up to ten seconds."""


def register_library_functions(context: SessionContext) -> None:
    for function in _functions():
        context.register_udf(function)


@cache
def _functions() -> tuple[ScalarUDF, ...]:
    moment = pa.timestamp("us")
    return (
        udf(_age, [moment, moment], _INTERVAL, "immutable", AGE),
        udf(_full_months, [moment, moment], _NUMBER, "immutable", FULL_MONTHS),
        udf(_bits, [_NUMBER], _NUMBER, "immutable", BITS),
        udf(_extracted, [_TEXT, _TEXT, _NUMBER, _TEXT], _TEXT, "immutable", EXTRACTED),
        udf(_all_extracted, [_TEXT, _TEXT, _NUMBER, _TEXT], pa.list_(_TEXT), "immutable", ALL_EXTRACTED),
        udf(_uuid_texts, [_TEXT, pa.bool_()], _TEXT, "immutable", UUID_TEXT),
        udf(_uuids, [pa.float64()], _TEXT, "volatile", UUID7),
    )


# --- regular expressions -----------------------------------------------------------------------------------------


def _extracted(texts: pa.Array, patterns: pa.Array, groups: pa.Array, options: pa.Array) -> pa.Array:
    return _by_pattern(texts, patterns, groups, options, _first_match, _TEXT)


def _all_extracted(texts: pa.Array, patterns: pa.Array, groups: pa.Array, options: pa.Array) -> pa.Array:
    return _by_pattern(texts, patterns, groups, options, _all_matches, pa.list_(_TEXT))


def _by_pattern(
    texts: pa.Array,
    patterns: pa.Array,
    groups: pa.Array,
    options: pa.Array,
    function: Callable[[pa.Array, str, int], pa.Array],
    type: pa.DataType,
) -> pa.Array:
    """Calls a function for the rows of each pattern, since a kernel of Arrow takes one only."""
    if not len(texts):
        return pa.array([], type)
    group, option = groups[0].as_py(), options[0].as_py()
    encoded = patterns.dictionary_encode()
    if len(encoded.dictionary) > _MOST_PATTERNS:
        raise OutOfMemory(
            f"a batch of rows may have {_MOST_PATTERNS:,} different regular expressions, and this one has "
            f"{len(encoded.dictionary):,}: SET batch_size lower"
        )
    numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(-1, len(encoded.dictionary) + 1))
    found = [pa.nulls(int(starts[1]), type)]
    for at, pattern in enumerate(encoded.dictionary.to_pylist(), 1):
        rows = pa.array(order[starts[at] : starts[at + 1]])
        found.append(function(texts.take(rows), _checked(pattern, option), group))
    return pa.concat_arrays(found).take(pa.array(np.argsort(order, kind="stable")))


def _checked(pattern: str, options: str) -> str:
    return f"(?{options}:{pattern})" if options else pattern


def _first_match(texts: pa.Array, pattern: str, group: int) -> pa.Array:
    """Replaces a text by a group of its first match: what is before it is as short as possible."""
    _check_group(pattern, group)
    try:
        matches = pc.match_substring_regex(texts, pattern)
        found = pc.replace_substring_regex(texts, rf"\A(?s:.*?)({pattern})(?s:.*)\z", rf"\{group + 1}")
    except pa.ArrowInvalid as error:
        raise _invalid(error) from None
    return pc.if_else(matches, found, pc.if_else(texts.is_valid(), "", pa.scalar(None, _TEXT)))


_START, _END = "\ue0f1", "\ue0f2"
"""Characters around each match, which no text that is searched may have."""


def _all_matches(texts: pa.Array, pattern: str, group: int) -> pa.Array:
    _check_group(pattern, group)
    if pc.any(pc.match_substring_regex(texts, f"[{_START}{_END}]")).as_py():
        raise ExecutionError("regexp_extract_all does not support texts with the private characters U+E0F1 and U+E0F2")
    try:
        if pc.match_substring_regex(pa.scalar(""), f"(?:{pattern})").as_py():  # Arrow leaves out some empty matches
            raise NotSupportedError(
                "regexp_extract_all does not support a pattern that matches an empty text: write + instead of *"
            )
        marked = pc.replace_substring_regex(texts, f"({pattern})", rf"{_START}\{group + 1}{_END}")
    except pa.ArrowInvalid as error:
        raise _invalid(error) from None
    if group and re.search(r"\||\)[?*{]", pattern) and pc.any(pc.match_substring(marked, _START + _END)).as_py():
        raise NotSupportedError(
            f"regexp_extract_all can't tell a group that is not part of a match from an empty one: group {group} of "
            "this pattern must match at least one character"
        )
    parts = pc.split_pattern(marked, _START)
    counts = pc.subtract(pc.list_value_length(parts), 1).fill_null(0)
    kept = pc.list_flatten(pc.list_slice(parts, 1))
    matches = pc.replace_substring_regex(kept, f"{_END}(?s:.*)\\z", "")
    offsets = np.concatenate(([0], np.cumsum(counts.to_numpy(zero_copy_only=False)))).astype(np.int32)
    mask = pa.array(np.asarray(texts.is_null()))
    return pa.ListArray.from_arrays(pa.array(offsets), matches, mask=mask if texts.null_count else None)


def _check_group(pattern: str, group: int) -> None:
    if group > 8:
        raise InvalidArgument("regexp_extract supports groups up to 8")
    try:
        count = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?P<", re.DOTALL).findall(pattern)
    except re.error:  # pragma: no cover - the pattern above is constant
        return
    groups = sum(part.startswith("(") for part in count)
    if group > groups:
        raise InvalidArgument(f"the regular expression has {groups} groups, not {group}")


def _invalid(error: pa.ArrowInvalid) -> ExecutionError:
    return ExecutionError(
        f"the regular expression is invalid: {str(error).removeprefix('Invalid regular expression: ')}"
    )


# --- numbers and times -------------------------------------------------------------------------------------------


def _bits(values: pa.Array) -> pa.Array:
    numbers = values.fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    counts = pa.array(np.bitwise_count(numbers).astype(np.int64))
    return pc.if_else(values.is_valid(), counts, pa.scalar(None, _NUMBER))


def _age(ends: pa.Array, starts: pa.Array) -> pa.Array:
    """As PostgreSQL: a borrowed month has the days of the earlier moment's month."""
    valid = pc.and_(ends.is_valid(), starts.is_valid())
    one, other = (_micros(moments) for moments in (ends, starts))
    sign = np.where(one < other, -1, 1)
    late, early = np.maximum(one, other), np.minimum(one, other)
    months = _months(late) - _months(early)
    days = _day(late) - _day(early)
    rest = late % _DAY - early % _DAY
    borrowed = rest < 0
    days, rest = days - borrowed, rest + borrowed * _DAY
    lengths = (_first_of(_months(early) + 1) - _first_of(_months(early))).astype(np.int64)
    borrowed = days < 0
    months, days = months - borrowed, days + borrowed * lengths
    found = np.empty(len(ends), _FIELDS)
    found["months"], found["days"], found["nanoseconds"] = sign * months, sign * days, sign * rest * 1000
    array = pa.Array.from_buffers(_INTERVAL, len(ends), [None, pa.py_buffer(found.tobytes())])
    return pc.if_else(valid, array, pa.scalar(None, _INTERVAL))


def _full_months(starts: pa.Array, ends: pa.Array) -> pa.Array:
    """A month is full on the same day of the next, or on its last day if it is shorter."""
    one, other = (_micros(moments) for moments in (starts, ends))
    early, late = np.minimum(one, other), np.maximum(one, other)
    last = _first_of(_months(late) + 1) - _first_of(_months(late)) - 1
    reached = np.minimum(_day(early), last) * _DAY + early % _DAY
    months = _months(late) - _months(early) - (reached > _day(late) * _DAY + late % _DAY)
    found = pa.array(np.where(other < one, -months, months))
    return pc.if_else(pc.and_(starts.is_valid(), ends.is_valid()), found, pa.scalar(None, _NUMBER))


def _micros(moments: pa.Array) -> Any:
    return moments.cast(_NUMBER).fill_null(0).to_numpy(zero_copy_only=False)


def _months(micros: Any) -> Any:
    return micros.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)


def _first_of(months: Any) -> Any:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _day(micros: Any) -> Any:
    return micros // _DAY - _first_of(_months(micros))


_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_PLACES = [at for at in range(36) if at not in (8, 13, 18, 23)]


def _uuid_texts(texts: pa.Array, strict: pa.Array) -> pa.Array:
    digits = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    fits = pc.match_substring_regex(digits, _UUID)
    if pc.any(pc.and_(strict, pc.invert(fits))).as_py():
        wrong = texts.filter(pc.invert(fits))[0].as_py()
        raise InvalidArgument(f"{wrong[:60]!r} is not a UUID: {UUID_FORM}")
    digits = pc.if_else(fits, pc.replace_substring_regex(digits, r"[-{}]", ""), pa.scalar(None, _TEXT))
    groups = [pc.utf8_slice_codeunits(digits, start, stop) for start, stop in pairwise((0, 8, 12, 16, 20, 32))]
    return pc.binary_join_element_wise(*groups, "-")


_UUID = r"^(\{([0-9a-f]{4}-?){7}[0-9a-f]{4}\}|([0-9a-f]{4}-?){7}[0-9a-f]{4})$"


def _uuids(rows: pa.Array) -> pa.Array:
    """Version 7: 48 bits of milliseconds, and random ones."""
    count = len(rows)
    octets = np.frombuffer(np.random.default_rng().bytes(16 * count), np.uint8).reshape(count, 16).copy()
    octets[:, :6] = np.frombuffer((time.time_ns() // 1_000_000).to_bytes(6, "big"), np.uint8)
    octets[:, 6] = octets[:, 6] & 0x0F | 0x70
    octets[:, 8] = octets[:, 8] & 0x3F | 0x80
    texts = np.full((count, 36), ord("-"), np.uint8)
    texts[:, _PLACES] = np.stack((_HEX[octets >> 4], _HEX[octets & 15]), axis=2).reshape(count, 32)
    offsets = np.arange(0, 36 * (count + 1), 36, dtype=np.int32)
    return pa.Array.from_buffers(_TEXT, count, [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(texts.tobytes())])


# --- lists -------------------------------------------------------------------------------------------------------


def mode(lists: pa.Array) -> pa.Array:
    """The most frequent element of each list, and the least of several."""
    counted = _counted(lists).sort_by([("row", "ascending"), ("value_count", "descending"), ("value", "ascending")])
    rows = counted["row"].combine_chunks().to_numpy(zero_copy_only=False)
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    at = np.full(len(lists), -1)
    at[rows[first]] = first
    values = _flat(counted["value"])
    return values.take(pa.array(at, mask=at < 0)).cast(lists.type.value_type)


def histogram(lists: pa.Array) -> pa.Array:
    """A map of the elements of each list to their numbers, in the order of the elements."""
    counted = _counted(lists).sort_by([("row", "ascending"), ("value", "ascending")])
    rows = counted["row"].combine_chunks().to_numpy(zero_copy_only=False)
    offsets = np.searchsorted(rows, np.arange(len(lists) + 1)).astype(np.int32)
    missing = np.diff(offsets) == 0
    places = pa.array(offsets, mask=np.append(missing, [False])) if missing.any() else pa.array(offsets)
    keys = _flat(counted["value"]).cast(lists.type.value_type)
    return pa.MapArray.from_arrays(places, keys, _flat(counted["value_count"]).cast(_NUMBER))


def list_sum(lists: pa.Array) -> pa.Array:
    """The sum of the elements of each list that are not NULL; NULL if there is none."""
    type = lists.type.value_type
    wide = pa.float64() if pa.types.is_floating(type) else pa.decimal128(38, getattr(type, "scale", 0))
    options = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    found = _aggregated(lists, pc.list_flatten(lists).cast(wide), "sum", options)
    if not pa.types.is_integer(type):
        return found
    try:
        return found.cast(_NUMBER)
    except pa.ArrowInvalid:
        raise ExecutionError("the sum of the list is out of range for BIGINT") from None


_VARIANCES = {
    "list_stddev_samp": ("stddev", 1),
    "list_stddev_pop": ("stddev", 0),
    "list_var_samp": ("variance", 1),
    "list_var_pop": ("variance", 0),
}


def list_aggregate(name: str, lists: pa.Array) -> pa.Array:
    """An aggregate of the elements of each list that are not NULL; NULL if there is none, except for counts."""
    values = pc.list_flatten(lists)
    some = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    match name:
        case "list_count":
            rows = np.asarray(pc.list_parent_indices(lists))[np.asarray(values.is_valid())]
            counts = pa.array(np.bincount(rows, minlength=len(lists)).astype(np.int64))
            return pc.if_else(lists.is_valid(), counts, pa.scalar(None, _NUMBER))
        case "list_unique":
            values = values.cast(_TEXT) if pa.types.is_string_view(values.type) else values
            values = pc.add(values, pa.scalar(0, values.type)) if pa.types.is_floating(values.type) else values  # -0.0
            counts = _aggregated(lists, values, "count_distinct", pc.CountOptions("only_valid"))
            counts = pc.fill_null(counts.cast(_NUMBER), 0)
            return pc.if_else(lists.is_valid(), counts, pa.scalar(None, _NUMBER))
        case "list_any_value":
            valid = np.flatnonzero(np.asarray(values.is_valid()))
            rows, first = np.unique(np.asarray(pc.list_parent_indices(lists))[valid], return_index=True)
            at = np.full(len(lists), -1)
            at[rows] = valid[first]
            return values.take(pa.array(at, mask=at < 0))
        case "list_bool_and" | "list_bool_or":
            return _aggregated(lists, values, "all" if name == "list_bool_and" else "any", some)
        case "list_median":
            return _medians(lists, values.cast(pa.float64()))
        case "list_product":
            return _aggregated(lists, values.cast(pa.float64()), "product", some)
    function, freedom = _VARIANCES[name]
    options = pc.VarianceOptions(ddof=freedom, skip_nulls=True, min_count=1 + freedom)
    return _aggregated(lists, values.cast(pa.float64()), function, options)


def _aggregated(lists: pa.Array, values: pa.Array, function: str, options: Any) -> pa.Array:
    """An aggregate of Arrow over the `values` of each list; NULL for a list without elements."""
    table = pa.table({"row": pc.list_parent_indices(lists), "value": values})
    found = table.group_by("row").aggregate([("value", function, options)])
    at = np.full(len(lists), -1)
    at[found["row"].to_numpy()] = np.arange(len(found))
    return _flat(found[f"value_{function}"]).take(pa.array(at, mask=at < 0))


def _medians(lists: pa.Array, values: pa.Array) -> pa.Array:
    """The mean of the middle two of the sorted elements, NaN being the greatest."""
    table = pa.table({"row": pc.list_parent_indices(lists), "value": values}).filter(pc.field("value").is_valid())
    table = table.sort_by([("row", "ascending"), ("value", "ascending")])
    rows, numbers = (_flat(table[name]).to_numpy(zero_copy_only=False) for name in ("row", "value"))
    counts = np.bincount(rows.astype(np.int64), minlength=len(lists))
    starts = np.cumsum(counts) - counts
    known = counts > 0
    low, high = (np.where(known, starts + (counts - more) // 2, 0) for more in (1, 0))
    if not len(numbers):
        return pa.nulls(len(lists), pa.float64())
    one, other = numbers[low], numbers[high]
    with np.errstate(invalid="ignore"):  # of both infinities it is NaN
        middle = np.where(one == other, one, one / 2 + other / 2)
    return pa.array(middle, mask=~known)


def list_where(lists: pa.Array, masks: pa.Array) -> pa.Array:
    """The elements for which a list of booleans of the same length is true."""
    valid = np.asarray(pc.and_(lists.is_valid(), masks.is_valid()))
    lists = pc.if_else(pa.array(valid), lists, pa.scalar(None, lists.type))
    masks = pc.if_else(pa.array(valid), masks, pa.scalar(None, masks.type))
    lengths, of_masks = (pc.fill_null(pc.list_value_length(a), 0) for a in (lists, masks))
    if not lengths.equals(of_masks):
        raise InvalidArgument("the lists of list_where must have the same length")
    kept = pc.list_flatten(masks)
    if kept.null_count:
        raise InvalidArgument("the second list of list_where may not have NULL")
    rows = np.asarray(pc.list_parent_indices(lists))[np.asarray(kept)]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(lists))))).astype(np.int32)
    values = pc.list_flatten(lists).filter(kept)
    mask = None if valid.all() else pa.array(~valid)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=lists.type, mask=mask)


def _counted(lists: pa.Array) -> pa.Table:
    values = pc.list_flatten(lists)
    if pa.types.is_string_view(values.type):
        values = values.cast(_TEXT)
    table = pa.table({"row": pc.list_parent_indices(lists), "value": values}).filter(pc.field("value").is_valid())
    return table.group_by(["row", "value"]).aggregate([("value", "count", pc.CountOptions("all"))])


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()
