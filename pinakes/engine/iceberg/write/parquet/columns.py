"""The stored columns of a file: each leaf of the schema with its Parquet path and metrics mode.

Names that are invalid in Avro are stored in a compatible form (`b c` as `b_x20c`), as by all Iceberg writers; readers
match field ids. If two names have the same form, one of them gets a numeric suffix.

A column of type `unknown`, always NULL, is not stored, as the format requires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count

import pyarrow as pa
from pyarrow import types as is_
from pyiceberg import types as ice
from pyiceberg.schema import Schema, make_compatible_name
from pyiceberg.table.metadata import TableMetadata

from pinakes.core.errors import NotSupportedError
from pinakes.core.types.iceberg_arrow import stored_schema_of
from pinakes.core.types.variant import VariantType
from pinakes.engine.iceberg.write.parquet.modes import COUNTS, NONE, Mode, modes_of

_UNBOUNDED = ice.GeometryType | ice.GeographyType | ice.UnknownType
"""Types without bounds that are a minimum and maximum value."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf column of the file."""

    field_id: int
    name: str
    """The dotted name in the table."""
    path: str
    """The path in the file."""
    type: ice.IcebergType
    position: int
    """The index of its top-level column among the stored ones."""
    repeated: bool
    """Whether it is in a list or map: a row may have several values, and there are no bounds."""
    mode: Mode = NONE


@dataclass(frozen=True)
class Columns:
    """The stored columns of a table."""

    metadata: TableMetadata

    @cached_property
    def stored(self) -> pa.Schema:
        """The Arrow schema of rows before they are written: all columns, under their own names."""
        variant = next((f.name for f in self.metadata.schema().fields if isinstance(f.field_type, VariantType)), None)
        if variant is not None:
            raise NotSupportedError(
                f"the table has a column {variant} of variants, which are read here and not written. Let Spark write it"
            )
        return stored_schema_of(self.metadata.schema())

    @cached_property
    def kept(self) -> list[int]:
        """The positions of the stored columns; all columns, if they are all of type unknown."""
        fields = self._named.fields
        known = [i for i, f in enumerate(fields) if not isinstance(f.field_type, ice.UnknownType)]
        return known or list(range(len(fields)))

    @cached_property
    def file_schema(self) -> pa.Schema:
        named = stored_schema_of(self._named)
        return pa.schema([named.field(i) for i in self.kept])

    def of_file(self, table: pa.Table) -> pa.Table:
        """Converts rows with schema `stored` to the schema of the file."""
        kept = table if len(self.kept) == table.num_columns else table.select(self.kept)
        if kept.schema.equals(self.file_schema, check_metadata=True):
            return kept
        columns = [
            pa.chunked_array([renamed(chunk, f.type) for chunk in column.chunks], f.type)
            for column, f in zip(kept.columns, self.file_schema, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=self.file_schema)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        schema, order = self.metadata.schema(), self.metadata.sort_order_by_id(self.metadata.default_sort_order_id)
        found = [leaf for at, i in enumerate(self.kept) for leaf in _leaves(self._named.fields[i], at)]
        found = [replace(leaf, name=schema.find_column_name(leaf.field_id) or leaf.name) for leaf in found]
        sources = {f.source_id for f in order.fields} if order is not None else set()
        sorted_by = frozenset(leaf.name for leaf in found if leaf.field_id in sources)
        modes = modes_of([leaf.name for leaf in found], sorted_by, self.metadata.properties)
        return tuple(replace(leaf, mode=_possible(leaf, mode)) for leaf, mode in zip(found, modes, strict=True))

    @cached_property
    def _named(self) -> Schema:
        return Schema(*_compatible(self.metadata.schema().fields))


def _compatible(fields: Iterable[ice.NestedField]) -> list[ice.NestedField]:
    """Returns the fields under Avro-compatible names, unique among siblings. Compatible names are kept."""
    fields = list(fields)
    names = {f.name: make_compatible_name(f.name) for f in fields}
    taken = {name for name, form in names.items() if name == form}
    for name, form in names.items():
        if name != form:
            free = (n for n in chain([form], (f"{form}_{i}" for i in count(2))) if n not in taken)
            names[name] = next(free)
            taken.add(names[name])
    return [f.model_copy(update={"name": names[f.name], "field_type": _compatible_type(f.field_type)}) for f in fields]


def _compatible_type(t: ice.IcebergType) -> ice.IcebergType:
    match t:
        case ice.StructType():
            return ice.StructType(*_compatible(t.fields))
        case ice.ListType():
            return ice.ListType(t.element_id, _compatible_type(t.element_type), t.element_required)
        case ice.MapType():
            key, value = _compatible_type(t.key_type), _compatible_type(t.value_type)
            return ice.MapType(t.key_id, key, t.value_id, value, t.value_required)
    return t


def _possible(leaf: Leaf, mode: Mode) -> Mode:
    return COUNTS if mode.bounds and (leaf.repeated or isinstance(leaf.type, _UNBOUNDED)) else mode


def _leaves(field: ice.NestedField, position: int, above: str = "", repeated: bool = False) -> Iterator[Leaf]:
    path = f"{above}{field.name}"
    match field.field_type:
        case ice.StructType() as struct:
            for inner in struct.fields:
                yield from _leaves(inner, position, f"{path}.", repeated)
        case ice.ListType() as list_type:
            yield from _leaves(list_type.element_field, position, f"{path}.list.", True)
        case ice.MapType() as map_type:
            for inner in (map_type.key_field, map_type.value_field):
                yield from _leaves(inner, position, f"{path}.key_value.", True)
        case plain:
            yield Leaf(field.field_id, path, path, plain, position, repeated)


def renamed(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Returns the values with other field names. Arrow's cast would match fields by name and return NULL for missing
    ones.
    """
    if array.type.equals(target, check_metadata=True) or not is_.is_nested(target):
        return array
    array = pa.concat_arrays([array, pa.nulls(0, array.type)])  # drops the rest of a slice's parent
    mask = array.is_null() if array.null_count else None
    if is_.is_struct(target):
        members = [renamed(m, f.type) for m, f in zip(array.flatten(), target.fields, strict=True)]
        return pa.StructArray.from_arrays(members, fields=list(target.fields), mask=mask)
    if is_.is_map(target):
        keys, items = renamed(array.keys, target.key_type), renamed(array.items, target.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=target, mask=mask)
    return pa.ListArray.from_arrays(array.offsets, renamed(array.values, target.value_type), type=target, mask=mask)
