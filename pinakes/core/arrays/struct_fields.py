"""Reorders the fields of structs to match the table.

Fields match by name, as in `{'b': 1, 'a': 2}`; a missing field is NULL. `row(1, 2)` has no names: its fields match by
position. Arrow's own cast matches by name only, and silently drops a field whose name it does not find.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types as is_

from pinakes.core.arrays.conform import compact, mask_of
from pinakes.core.errors import TypeMismatch, listing
from pinakes.core.types.arrow_names import is_any_list, sql_name_of_arrow


def arrange_fields(batch: pa.RecordBatch, target: pa.Schema) -> pa.RecordBatch:
    """Returns the batch with the fields of its structs in the order of the target; raises TypeMismatch for a field
    that the target does not have.
    """
    if all(_fits(column.type, field.type) for column, field in zip(batch.columns, target, strict=True)):
        return batch
    columns = [_column(column, field) for column, field in zip(batch.columns, target, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _column(column: pa.Array, field: pa.Field) -> pa.Array:
    try:
        return _array(column, field.type)
    except _OtherFields as error:
        raise TypeMismatch(
            f"column {field.name!r} is {sql_name_of_arrow(field.type)}, and a value of type "
            f"{sql_name_of_arrow(column.type)} does not fit: {error}. Name its fields as the column does, "
            f"{{'name': value, …}}, or give all in their order: row(value, …)"
        ) from error


class _OtherFields(Exception):
    """A struct has fields that the target does not have."""


def _fits(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Returns whether the fields already match."""
    if is_.is_struct(given) and is_.is_struct(wanted):
        same = [f.name for f in given.fields] == [f.name for f in wanted.fields]
        return same and all(_fits(a.type, b.type) for a, b in zip(given.fields, wanted.fields, strict=True))
    if is_.is_map(given) and is_.is_map(wanted):
        return _fits(given.key_type, wanted.key_type) and _fits(given.item_type, wanted.item_type)
    if is_any_list(given) and is_any_list(wanted):
        return _fits(given.value_type, wanted.value_type)
    return True


def _array(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    if _fits(array.type, wanted):
        return array
    if is_.is_struct(wanted):
        return _struct(array, wanted)
    array = compact(array)
    if is_.is_map(wanted):
        keys, items = _array(array.keys, wanted.key_type), _array(array.items, wanted.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, mask=mask_of(array))
    array = array if is_.is_list(array.type) else array.cast(pa.list_(array.type.value_field))
    return pa.ListArray.from_arrays(array.offsets, _array(array.values, wanted.value_type), mask=mask_of(array))


def _struct(array: pa.StructArray, wanted: pa.StructType) -> pa.StructArray:
    members = dict(zip(_names(array.type, wanted), array.flatten(), strict=True))
    given = [_array(members[f.name], f.type) if f.name in members else pa.nulls(len(array), f.type) for f in wanted]
    fields = [pa.field(f.name, member.type) for f, member in zip(wanted, given, strict=True)]
    return pa.StructArray.from_arrays(given, fields=fields, mask=mask_of(array))


def _names(given: pa.StructType, wanted: pa.StructType) -> list[str]:
    """Returns the target's name of each given field."""
    names, known = [f.name for f in given.fields], [f.name for f in wanted.fields]
    if names == [f"c{n}" for n in range(len(names))] and not set(names) <= set(known):  # names that row() generates
        if len(names) != len(known):
            raise _OtherFields(f"it has {len(names)} fields, and the column {len(known)}")
        return known
    folded = {name.lower(): name for name in known}
    found = [name if name in known else folded.get(name.lower(), "") for name in names]
    if "" in found:
        raise _OtherFields(f"there is no field {names[found.index('')]!r} in it, but {listing(known)}")
    if len(set(found)) < len(found):
        raise _OtherFields("a field is there twice")
    return found
