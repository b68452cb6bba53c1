"""ANALYZE: reads the columns of a table once and stores a sketch of each in a statistics file of the snapshot.

The format is Iceberg's: a Puffin file with a theta sketch per column. The estimate (`ndv`) is also in the table
metadata, so that planners read it without opening the file: ours (`optimize/table_facts.py`), Spark's and Trino's.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyiceberg.table.statistics import StatisticsFile
from pyiceberg.table.update import SetStatisticsUpdate

from pinakes.core.errors import CommitConflict, InvalidArgument
from pinakes.core.names import quote
from pinakes.core.types.sql import sql_name
from pinakes.engine.binding.relation import Relation
from pinakes.engine.execution.batch_coalescer import gathered
from pinakes.engine.iceberg.scan.time_travel import at_version
from pinakes.engine.iceberg.statistics.hashes import count, is_counted
from pinakes.engine.iceberg.statistics.sketch import ThetaSketch
from pinakes.engine.iceberg.write.commit import again, begin, commit
from pinakes.engine.iceberg.write.new_files import NewFiles
from pinakes.engine.iceberg.write.puffin import Blob, blobs_in, puffin

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.types import NestedField

    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.statement_context import Execution

TYPE = "apache-datasketches-theta-v1"
MOST_BYTES = 256 << 20
"""The largest statistics file that is read, as for metadata files."""


def analyze(
    execution: Execution,
    found: ResolvedTable,
    table: IcebergTable,
    columns: Sequence[str],
    snapshot_id: int | None = None,
) -> str | None:
    """Returns the path of the statistics; None if the table has no snapshot."""
    now = table if snapshot_id is None else at_version(table, snapshot_id)
    snapshot = now.handle.current_snapshot()
    if snapshot is None:
        return None
    fields = _fields(now, found, columns)
    sketches = _counted(execution, now, fields)
    blobs = [_blob(field, sketch, snapshot) for field, sketch in zip(fields, sketches, strict=True)]
    execution.query.check()
    return again(lambda: _commit(execution, found, snapshot, blobs), found)


def _fields(table: IcebergTable, found: ResolvedTable, columns: Sequence[str]) -> list[NestedField]:
    """Returns the named columns, or all columns of supported types."""
    schema = table.handle.schema()
    if not columns:
        return [field for field in schema.fields if is_counted(field.field_type)]
    fields = [schema.find_field(name) for name in dict.fromkeys(columns)]
    for field in fields:
        if not is_counted(field.field_type):
            raise InvalidArgument(
                f"column {quote(field.name)} of {found} is of type {sql_name(field.field_type)}, whose values are not "
                f"counted: leave it out"
            )
    return fields


# --- counting --------------------------------------------------------------------------------------------------------


def _counted(execution: Execution, table: IcebergTable, fields: Sequence[NestedField]) -> list[ThetaSketch]:
    sketches = [ThetaSketch() for _ in fields]
    if not fields:
        return sketches
    planner = execution.planner()
    relation: Relation = planner.add(planner.iceberg(("$analyze", "$analyze", "table"), table))
    for rows in gathered(planner.rows_of(relation, [field.name for field in fields])):
        for field, sketch, column in zip(fields, sketches, rows.columns, strict=True):
            count(sketch, column, field.field_type)
    return sketches


def _blob(field: NestedField, sketch: ThetaSketch, snapshot: Snapshot) -> Blob:
    properties = {"ndv": str(round(sketch.estimate))}
    sequence = snapshot.sequence_number or 0
    return Blob(TYPE, [field.field_id], sketch.to_bytes(), properties, snapshot.snapshot_id, sequence)


# --- commit ----------------------------------------------------------------------------------------------------------


def _commit(execution: Execution, found: ResolvedTable, snapshot: Snapshot, blobs: Sequence[Blob]) -> str:
    """Adds the statistics to the current table. They belong to one snapshot, regardless of later ones."""
    table = execution.resolver.fresh(found)
    handle, number = table.handle, snapshot.snapshot_id
    if handle.metadata.snapshot_by_id(number) is None:
        raise CommitConflict(f"snapshot {number} of {found} has expired while its rows were counted.")
    made = puffin([*blobs, *_others(table, number, blobs)])
    with NewFiles(handle.io) as files:
        path = handle.location_provider().new_metadata_location(f"{number}-{uuid.uuid4()}.stats")
        files.paths.append(path)
        with handle.io.new_output(path).create(overwrite=True) as stream:
            stream.write(made.content)
        written = _statistics_file(path, number, len(made.content), made.footer_size, blobs_in(made.content))
        transaction = begin(table)
        transaction._apply((SetStatisticsUpdate.model_validate({"statistics": written}),))
        commit(transaction, found.place, found.name)
        files.keep()
    return path


def _others(table: IcebergTable, number: int, blobs: Sequence[Blob]) -> list[Blob]:
    """Returns the sketches of other columns at the same snapshot, which has a single statistics file. Those of a file
    that is too large are left out."""
    known = next((f for f in table.handle.metadata.statistics if f.snapshot_id == number), None)
    if known is None:
        return []
    with table.handle.io.new_input(known.statistics_path).open() as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        return []
    counted = [blob.fields for blob in blobs]
    return [blob for blob in blobs_in(content) if blob.fields not in counted]


def _statistics_file(path: str, snapshot_id: int, size: int, footer_size: int, blobs: Sequence[Blob]) -> StatisticsFile:
    listed = [
        {
            "type": blob.type,
            "snapshot-id": blob.snapshot_id,
            "sequence-number": blob.sequence_number,
            "fields": blob.fields,
            "properties": blob.properties,
        }
        for blob in blobs
    ]
    return StatisticsFile.model_validate(
        {
            "snapshot-id": snapshot_id,
            "statistics-path": path,
            "file-size-in-bytes": size,
            "file-footer-size-in-bytes": footer_size,
            "blob-metadata": listed,
        }
    )
