"""Decodes arrays whose encodings the engine can't read: run-end encoding and dictionaries, at any depth.

A top-level dictionary of plain values is kept, since DataFusion reads it, and faster. pyarrow has no kernels for views
within a dictionary, nor for run ends within other types.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as is_

from pinakes.core.arrays.conform import mask_of, uuid_text
from pinakes.core.types.arrow_names import is_any_list

_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def decode_type(t: pa.DataType) -> pa.DataType:
    """Returns the type of a column after decoding."""
    if is_.is_dictionary(t) and _is_plain(t.value_type):
        return t
    return _decoded(t)


def decode_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(decode_type(field.type)) for field in schema], metadata=schema.metadata)


def decode_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Decodes a batch to its `decoded_schema`."""
    columns = [decode(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def decode_table(table: pa.Table) -> pa.Table:
    schema = decode_schema(table.schema)
    if schema.equals(table.schema):
        return table
    return pa.Table.from_batches([decode_batch(batch, schema) for batch in table.to_batches()], schema=schema)


def decode(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Decodes an array; `target` is its `decoded_type`."""
    if array.type.equals(target):
        return array
    if is_.is_dictionary(array.type):
        return decode(array.dictionary, target).take(array.indices)
    if is_.is_run_end_encoded(array.type):
        runs = pa.RunEndEncodedArray.from_arrays(array.run_ends, pa.array(range(len(array.values)), pa.int64()))
        places = pc.run_end_decode(runs.slice(array.offset, len(array)))
        return decode(array.values, target).take(places)
    if array.type in _VIEWS:
        return array.cast(target)
    return _rebuilt(array, target)


def plain_parameter(column: pa.ChunkedArray, expected: pa.DataType) -> pa.ChunkedArray:
    """Decodes the values of a parameter. A uuid becomes text, as queries see it, unless the statement expects bytes;
    16 bytes where the statement expects text are a uuid.
    """
    kind = column.type
    is_uuid = isinstance(kind, pa.UuidType) or (kind == pa.binary(16) and is_.is_string(expected))
    if is_uuid:
        chunks = [chunk.storage if isinstance(kind, pa.UuidType) else chunk for chunk in column.chunks]
        if is_.is_fixed_size_binary(expected) or is_.is_binary(expected):
            return pa.chunked_array([chunk.cast(expected) for chunk in chunks], expected)
        return pa.chunked_array(list(map(uuid_text, chunks)), pa.string())
    target = _decoded(kind)
    return column if target == kind else pa.chunked_array([decode(c, target) for c in column.chunks], target)


def plain_scalar(value: pa.Scalar) -> pa.Scalar:
    """Decodes a single value whose expected type is unknown."""
    if isinstance(value.type, pa.UuidType):
        return pa.scalar(str(value.as_py()) if value.is_valid else None, pa.string())
    target = _decoded(value.type)
    return value if target == value.type else pa.scalar(value.as_py(), target)


def _is_plain(t: pa.DataType) -> bool:
    return not (is_.is_nested(t) or is_.is_dictionary(t) or is_.is_run_end_encoded(t) or t in _VIEWS)


def _decoded(t: pa.DataType) -> pa.DataType:
    if is_.is_dictionary(t) or is_.is_run_end_encoded(t):
        inner = _decoded(t.value_type)
        return _VIEWS.get(inner, inner)
    if is_.is_struct(t):
        return pa.struct([_field(f) for f in t.fields])
    if is_.is_map(t):
        return pa.map_(_field(t.key_field), _field(t.item_field), keys_sorted=t.keys_sorted)
    if not is_any_list(t) or _decoded(t.value_type) == t.value_type:
        return t
    if is_.is_large_list(t) or is_.is_large_list_view(t):
        return pa.large_list(_field(t.value_field))
    return pa.list_(_field(t.value_field))


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(_decoded(field.type))


def _rebuilt(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Rebuilds a struct, map or list with decoded members."""
    if is_.is_struct(target):
        members = [decode(member, field.type) for member, field in zip(array.flatten(), target.fields, strict=True)]
        return pa.StructArray.from_arrays(members, fields=list(target.fields), mask=array.is_null())
    mask = mask_of(array)
    if is_.is_map(target):
        keys, items = decode(array.keys, target.key_type), decode(array.items, target.item_type)
        return pa.MapArray.from_arrays(_copied(array.offsets), keys, items, type=target, mask=mask)
    kind = pa.LargeListArray if is_.is_large_list(target) else pa.ListArray
    if is_.is_list(array.type) or is_.is_large_list(array.type):
        return kind.from_arrays(_copied(array.offsets), decode(array.values, target.value_type), type=target, mask=mask)
    places = _places(array)
    values = decode(array.values, target.value_type).take(places.flatten())
    ends = pc.cumulative_sum(places.value_lengths().fill_null(0).cast(pa.int64()))
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    narrow = pa.int64() if is_.is_large_list(target) else pa.int32()
    return kind.from_arrays(offsets.cast(narrow), values, type=target, mask=mask)


def _places(array: pa.Array) -> pa.Array:
    """Returns fixed-size lists, or list views, with the index of each member instead of the member."""
    mask = mask_of(array)
    if is_.is_fixed_size_list(array.type):
        size = array.type.list_size
        members = pa.array(range(array.offset * size, (array.offset + len(array)) * size), pa.int64())
        return pa.FixedSizeListArray.from_arrays(members, size, mask=mask)
    kind = pa.LargeListViewArray if is_.is_large_list_view(array.type) else pa.ListViewArray
    members = pa.array(range(len(array.values)), pa.int64())
    return kind.from_arrays(_copied(array.offsets), _copied(array.sizes), members, mask=mask)


def _copied(offsets: pa.Array) -> pa.Array:
    """Copies offsets: those of a slice can't be combined with a mask."""
    return pa.concat_arrays([offsets, pa.nulls(0, offsets.type)])
