"""The columns that a file stores: each leaf of the schema with its place in Parquet and what is told of it.

Names that Avro could not have stand in the file in a form that it could (`b c` as `b_x20c`), as all writers of Iceberg
have them; readers go by field ids. Where two names come to the same form, one of them gets a number at its end.
A column of type `unknown`, always NULL, is not stored, as the format wants it.
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
from pinakes.core.iceberg_arrow import stored_schema_of
from pinakes.core.variant import VariantType
from pinakes.engine.iceberg.write.parquet.modes import COUNTS, NONE, Mode, modes_of

_UNBOUNDED = ice.GeometryType | ice.GeographyType | ice.UnknownType
"""Their bounds are no least and greatest value, or there is none."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of the file."""

    field_id: int
    name: str
    """In the table, with dots between the levels."""
    path: str
    """In the file."""
    type: ice.IcebergType
    position: int
    """Of the table's column that it is in, among those that are stored."""
    repeated: bool
    """Within a list or map: a row may have several values, and no bounds are told."""
    mode: Mode = NONE


@dataclass(frozen=True)
class Columns:
    """What the files of a table consist of."""

    metadata: TableMetadata

    @cached_property
    def stored(self) -> pa.Schema:
        """The Arrow schema that rows have before they are written: all columns, under their own names."""
        variant = next((f.name for f in self.metadata.schema().fields if isinstance(f.field_type, VariantType)), None)
        if variant is not None:
            raise NotSupportedError(
                f"the table has a column {variant} of variants, which are read here and not written. Let Spark write it"
            )
        return stored_schema_of(self.metadata.schema())

    @cached_property
    def kept(self) -> list[int]:
        """The positions of the columns that are stored; if nothing else is there, those that are always NULL are."""
        fields = self._named.fields
        known = [i for i, f in enumerate(fields) if not isinstance(f.field_type, ice.UnknownType)]
        return known or list(range(len(fields)))

    @cached_property
    def file_schema(self) -> pa.Schema:
        named = stored_schema_of(self._named)
        return pa.schema([named.field(i) for i in self.kept])

    def of_file(self, table: pa.Table) -> pa.Table:
        """Rows under `stored` as the file has them."""
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
    """The fields under names that Avro could have, each once among its siblings. Those that need no other name keep
    theirs."""
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
    """The same values where only the names of fields differ. Arrow's cast would look for fields by their names, and
    give NULL for those that it does not find."""
    if array.type.equals(target, check_metadata=True) or not is_.is_nested(target):
        return array
    array = pa.concat_arrays([array, pa.nulls(0, array.type)])  # of a slice, what was cut off goes
    mask = array.is_null() if array.null_count else None
    if is_.is_struct(target):
        members = [renamed(m, f.type) for m, f in zip(array.flatten(), target.fields, strict=True)]
        return pa.StructArray.from_arrays(members, fields=list(target.fields), mask=mask)
    if is_.is_map(target):
        keys, items = renamed(array.keys, target.key_type), renamed(array.items, target.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=target, mask=mask)
    return pa.ListArray.from_arrays(array.offsets, renamed(array.values, target.value_type), type=target, mask=mask)
