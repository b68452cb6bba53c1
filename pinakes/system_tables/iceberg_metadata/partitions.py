"""The partitions of files: one struct of the partition fields of all specs of a table, and its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa
from pyiceberg import types as ice
from pyiceberg.partitioning import PartitionField

from pinakes.core.errors import DataCorrupt
from pinakes.core.names import dotted
from pinakes.core.output.value_format import as_json, plain
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.system_tables.iceberg_metadata.declaration import Both
from pinakes.system_tables.iceberg_metadata.values import types_of

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

    from pinakes.core.catalog import IcebergTable

Partition = Both
"""The values by partition field, and the same as JSON; NULL in an unpartitioned table."""

NO_PARTITION = Both(None, None)


def result_type(field: PartitionField, metadata: TableMetadata) -> ice.IcebergType:
    """Returns the result type of a transform; string if its column is unknown."""
    known = types_of(metadata).get(field.source_id)
    return ice.StringType() if known is None else field.transform.result_type(known[1])


def fields_of(metadata: TableMetadata) -> dict[str, ice.IcebergType]:
    """Returns the partition fields of all specs of a table; the newest spec determines the type."""
    specs = sorted(metadata.partition_specs, key=lambda s: (s.spec_id == metadata.default_spec_id, s.spec_id))
    return {field.name: result_type(field, metadata) for spec in specs for field in spec.fields}


def shape_of(table: IcebergTable) -> pa.DataType | None:
    """Returns the type of a partition; None if the table was never partitioned."""
    fields = fields_of(table.handle.metadata)
    return pa.struct([(name, arrow_type_of(kind)) for name, kind in fields.items()]) if fields else None


def partitions_of(table: IcebergTable, spec_id: int, values: Any, count: int) -> list[Partition]:
    """Returns the partition of each file of a manifest, from the struct of its spec."""
    metadata = table.handle.metadata
    fields = fields_of(metadata)
    spec = metadata.specs().get(spec_id)
    if not fields:
        return [NO_PARTITION] * count
    typed: dict[str, list[Any]] = {name: [None] * count for name in fields}
    texts: dict[str, list[Any]] = dict(typed)
    for place, field in enumerate(spec.fields if spec is not None and values is not None else ()):
        if len(values.type) == len(spec.fields if spec is not None else ()):
            array = _as_type(table, field, values.field(place), fields[field.name])
            typed[field.name], texts[field.name] = _python(array), plain(array)
    return [
        Both({name: typed[name][n] for name in fields}, as_json({name: texts[name][n] for name in fields}))
        for n in range(count)
    ]


def _as_type(table: IcebergTable, field: PartitionField, values: pa.Array, kind: ice.IcebergType) -> pa.Array:
    wanted = arrow_type_of(kind)
    if isinstance(kind, ice.UUIDType):
        return pa.array([None if v is None else str(UUID(bytes=v)) for v in values.to_pylist()], wanted)
    try:
        return values if values.type == wanted else _numbers(values, wanted).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        name = dotted((*table.namespace, table.name))
        raise DataCorrupt(
            f"table {name}: values of its partition field {field.name} are not valid {kind} values: {error}"
        ) from error


def _numbers(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Converts the result of day(), which is a date in some manifests and a number in others."""
    if pa.types.is_date32(wanted) and pa.types.is_integer(values.type):
        return values.cast(pa.int32())
    return values


def _python(array: pa.Array) -> list[Any]:
    """Returns Python values; temporal values as numbers, since Python's own types have less precision and range."""
    kind = array.type
    if pa.types.is_temporal(kind):
        array = array.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    found: list[Any] = array.to_pylist()
    return found
