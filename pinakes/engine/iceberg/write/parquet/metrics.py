"""Metrics of a file for its manifest entry: counts and bounds of columns, and offsets of row groups.

Parquet's own statistics provide nearly all of them at no extra cost. Two are computed from the rows of each row group
as it is written (`Observed`): the number of NaN values, and the bounds of strings and binary values of more than 4096
bytes, for which Arrow keeps none. A bound is written only if it covers every row group: otherwise readers would prune
files that match.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.engine.iceberg.write.parquet import bounds
from pinakes.engine.iceberg.write.parquet.columns import Leaf

_LONGEST = 4096
"""The maximum bytes of a value for which Arrow keeps statistics."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Metrics computed from the rows of one row group, by field id."""

    nans: dict[int, int] = field(default_factory=dict)
    ranges: dict[int, tuple[Any, Any]] = field(default_factory=dict)


def observed(table: pa.Table, leaves: Iterable[Leaf]) -> Observed:
    found = Observed()
    for leaf in leaves:
        if not leaf.mode.counts:
            continue
        chunks = leaf_chunks(table.column(leaf.position), leaf)
        kind = chunks[0].type if chunks else pa.null()
        if is_.is_floating(kind):
            found.nans[leaf.field_id] = sum(pc.sum(pc.is_nan(c)).as_py() or 0 for c in chunks)
        elif leaf.mode.bounds and (is_.is_binary(kind) or is_.is_string(kind)) and _is_long(chunks):
            ends = pc.min_max(pa.chunked_array([c.cast(pa.binary()) for c in chunks])).as_py()
            found.ranges[leaf.field_id] = (ends["min"], ends["max"])
    return found


def _is_long(chunks: Sequence[pa.Array]) -> bool:
    return any((pc.max(pc.binary_length(c)).as_py() or 0) > _LONGEST for c in chunks)


def leaf_chunks(column: pa.ChunkedArray, leaf: Leaf) -> list[pa.Array]:
    """Returns the values of a leaf; within lists and maps, all values of every row."""
    if "." not in leaf.path:
        return list(column.chunks)
    return [_descend(chunk, column.type, leaf.field_id) for chunk in column.chunks]


def _descend(array: pa.Array, declared: pa.DataType, wanted: int) -> pa.Array:
    """Returns the member with this field id, at any depth.

    The ids come from the column's type: Arrow's kernels drop them in arrays that they create, for example of maps
    within lists.
    """
    for member, inner in zip(_fields(declared), _members(array), strict=True):
        if (member.metadata or {}).get(b"PARQUET:field_id") == str(wanted).encode():
            return inner
        if is_.is_nested(member.type) and _holds(member.type, wanted):
            return _descend(inner, member.type, wanted)
    raise AssertionError(f"no field {wanted} in {declared}")


def _members(array: pa.Array) -> list[pa.Array]:
    if is_.is_struct(array.type):
        return list(array.flatten())
    if is_.is_map(array.type):
        whole = pa.concat_arrays([array, pa.nulls(0, array.type)])  # drops the rest of a slice's parent
        return [whole.keys, whole.items]
    return [array.flatten()]


def _fields(t: pa.DataType) -> list[pa.Field]:
    if is_.is_struct(t):
        return list(t.fields)
    return [t.key_field, t.item_field] if is_.is_map(t) else [t.value_field]


def _holds(t: pa.DataType, wanted: int) -> bool:
    return any(
        (f.metadata or {}).get(b"PARQUET:field_id") == str(wanted).encode()
        or (is_.is_nested(f.type) and _holds(f.type, wanted))
        for f in _fields(t)
    )


# --- from the footer ---------------------------------------------------------------------------------------------


def entry_metrics(footer: Any, leaves: Sequence[Leaf], groups: Sequence[Observed]) -> dict[str, Any]:
    """Returns the metrics of a file as arguments of `DataFile.from_args`."""
    by_path = {footer.schema.column(i).path: i for i in range(footer.num_columns)}
    result: dict[str, Any] = {name: {} for name in _MAPS}
    result["record_count"] = footer.num_rows
    result["split_offsets"] = [_start(footer.row_group(i)) for i in range(footer.num_row_groups)]
    for leaf in leaves:
        place = by_path[leaf.path]
        chunks = [footer.row_group(i).column(place) for i in range(footer.num_row_groups)]
        for name, value in _leaf_metrics(leaf, chunks, groups).items():
            result[name][leaf.field_id] = value
    return result


_MAPS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")


def _leaf_metrics(leaf: Leaf, chunks: Sequence[Any], groups: Sequence[Observed]) -> dict[str, Any]:
    found: dict[str, Any] = defaultdict(int)
    found["column_sizes"] = sum(c.total_compressed_size for c in chunks)
    if not leaf.mode.counts:
        return found
    found["value_counts"] = sum(c.num_values for c in chunks)
    nulls = [_nulls(c) for c in chunks]
    if None not in nulls:
        found["null_value_counts"] = sum(n for n in nulls if n is not None)
    if all(leaf.field_id in g.nans for g in groups):
        found["nan_value_counts"] = sum(g.nans[leaf.field_id] for g in groups)
    return {**found, **(_bounds(leaf, chunks, groups) if leaf.mode.bounds else {})}


def _nulls(chunk: Any) -> int | None:
    known = chunk.statistics if chunk.is_stats_set else None
    return known.null_count if known is not None and known.has_null_count else None


def _bounds(leaf: Leaf, chunks: Sequence[Any], groups: Sequence[Observed]) -> dict[str, bytes]:
    ranges: list[tuple[Any, Any]] = []
    for chunk, group in zip(chunks, groups, strict=True):
        if leaf.field_id in group.ranges:
            ranges.append(group.ranges[leaf.field_id])
        elif chunk.is_stats_set and chunk.statistics.has_min_max:
            ranges.append((_raw(chunk.statistics.min_raw), _raw(chunk.statistics.max_raw)))
        elif (_nulls(chunk) or 0) + group.nans.get(leaf.field_id, 0) < chunk.num_values:
            return {}  # it has values without statistics
    if not ranges:
        return {}
    least = bounds.lower(leaf.type, _extreme(leaf, [r[0] for r in ranges], min), leaf.mode.length)
    greatest = bounds.upper(leaf.type, _extreme(leaf, [r[1] for r in ranges], max), leaf.mode.length)
    ends = {"lower_bounds": least, "upper_bounds": greatest}
    return {name: value for name, value in ends.items() if value is not None}


def _extreme(leaf: Leaf, values: Sequence[Any], choose: Any) -> Any:
    """Returns the minimum or maximum: strings by UTF-8 bytes, wide decimals (stored as bytes) by number."""
    from pyiceberg.types import DecimalType

    if isinstance(leaf.type, DecimalType) and isinstance(values[0], bytes):
        return choose(int.from_bytes(v, "big", signed=True) for v in values)
    return choose(values)


def _raw(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _start(group: Any) -> int:
    first = group.column(0)
    offsets = [first.data_page_offset]
    if first.has_dictionary_page and first.dictionary_page_offset:
        offsets.append(first.dictionary_page_offset)
    return int(min(offsets))
