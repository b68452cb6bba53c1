"""The lineage of rows, in format version 3: the id of each row, and the sequence number of its last change.

A row that nobody wrote these for has the place in its file as id, counted from the file's `first_row_id`, and the
sequence number of the file. Whoever writes a row anew, moved or changed, has to write them down: the columns are
reserved by the format and stand in no table's schema.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.types import LongType, NestedField

from pinakes.engine.iceberg.scan.tasks import Task
from pinakes.providers.iceberg_v3.records import DataFileV3

ROW_ID, SEQUENCE = "$pinakes_row_id", "$pinakes_sequence"
"""What the columns are called in a plan: names that no table of a user's has."""
LINEAGE = (ROW_ID, SEQUENCE)

_RESERVED = (
    NestedField(2147483540, "_row_id", LongType(), required=False),
    NestedField(2147483539, "_last_updated_sequence_number", LongType(), required=False),
)


def has_lineage(metadata: TableMetadata) -> bool:
    """Whether it is kept. A column of the user's may have such a name: then a file can't have both."""
    names = {field.name for field in metadata.schema().fields}
    return metadata.format_version >= 3 and names.isdisjoint(field.name for field in _RESERVED)


def with_lineage(schema: Schema) -> Schema:
    """The schema with the reserved columns at its end."""
    return Schema(*schema.fields, *_RESERVED, schema_id=schema.schema_id)


def stored_with_lineage(metadata: TableMetadata) -> TableMetadata:
    """The metadata as that of a table which has the reserved columns: for the files that rows are written anew to."""
    current = metadata.current_schema_id
    schemas = [with_lineage(s) if s.schema_id == current else s for s in metadata.schemas]
    return metadata.model_copy(update={"schemas": schemas})


def lineage_of(task: Task, positions: pa.Array, stored: pa.RecordBatch) -> dict[str, pa.Array]:
    """Id and last change of the rows at these positions of a file; `stored` has what the file tells of it. A file from
    before version 3 has no first id: its rows get ids when they are written."""
    file = task.file
    first = file.first_row_id if isinstance(file, DataFileV3) else None
    if first is None:
        return dict(zip(LINEAGE, stored.columns, strict=True))
    counted = pc.add(positions, pa.scalar(first, pa.int64()))
    return {
        ROW_ID: pc.coalesce(stored.column(0), counted),
        SEQUENCE: pc.coalesce(stored.column(1), pa.scalar(task.sequence, pa.int64())),
    }
