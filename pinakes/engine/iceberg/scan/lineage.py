"""Row lineage of format version 3: the id of each row, and the sequence number of its last change.

If a file does not store them, the id is the row's position plus the file's `first_row_id`, and the sequence number is
that of the file. A writer that moves or changes a row must store them. The columns are reserved by the format and are
not in a table's schema.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.types import LongType, NestedField

from pinakes.engine.iceberg.scan.tasks import Task
from pinakes.providers.iceberg.v3.records import DataFileV3

ROW_ID, SEQUENCE = "$pinakes_row_id", "$pinakes_sequence"
"""Names of the columns in a plan, which cannot occur in a user's table."""
LINEAGE = (ROW_ID, SEQUENCE)

_RESERVED = (
    NestedField(2147483540, "_row_id", LongType(), required=False),
    NestedField(2147483539, "_last_updated_sequence_number", LongType(), required=False),
)


def has_lineage(metadata: TableMetadata) -> bool:
    """Returns whether the table has row lineage. A user column with a reserved name disables it."""
    names = {field.name for field in metadata.schema().fields}
    return metadata.format_version >= 3 and names.isdisjoint(field.name for field in _RESERVED)


def with_lineage(schema: Schema) -> Schema:
    """Returns the schema with the reserved columns appended."""
    return Schema(*schema.fields, *_RESERVED, schema_id=schema.schema_id)


def stored_with_lineage(metadata: TableMetadata) -> TableMetadata:
    """Returns the metadata with the reserved columns in the schema, for writing rewritten rows."""
    current = metadata.current_schema_id
    schemas = [with_lineage(s) if s.schema_id == current else s for s in metadata.schemas]
    return metadata.model_copy(update={"schemas": schemas})


def lineage_of(task: Task, positions: pa.Array, stored: pa.RecordBatch) -> dict[str, pa.Array]:
    """Returns id and last change of the rows at these positions; `stored` holds the values in the file.

    A file from before version 3 has no first row id: its rows get ids when they are written.
    """
    file = task.file
    first = file.first_row_id if isinstance(file, DataFileV3) else None
    if first is None:
        return dict(zip(LINEAGE, stored.columns, strict=True))
    counted = pc.add(positions, pa.scalar(first, pa.int64()))
    return {
        ROW_ID: pc.coalesce(stored.column(0), counted),
        SEQUENCE: pc.coalesce(stored.column(1), pa.scalar(task.sequence, pa.int64())),
    }
