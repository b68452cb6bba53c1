"""system.iceberg.metadata_log: the past metadata files of a table and the current one, which is last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all


class Version(NamedTuple):
    at: int
    file: str
    snapshot: int | None
    schema: int | None
    sequence: int | None


def _facts(inside: Inside) -> Iterator[Version]:
    metadata = inside.metadata
    files = [(entry.timestamp_ms, entry.metadata_file) for entry in metadata.metadata_log]
    files.append((metadata.last_updated_ms, inside.table.handle.metadata_location))
    for at, file in files:
        yield _version(inside, at, file)


def _version(inside: Inside, at: int, file: str) -> Version:
    """Returns a version with the snapshot that was current at that time."""
    before = [entry for entry in inside.metadata.snapshot_log if entry.timestamp_ms <= at]
    if not before:
        return Version(at, file, None, None, None)
    number = before[-1].snapshot_id
    snapshot = inside.metadata.snapshot_by_id(number)
    if snapshot is None:
        return Version(at, file, number, None, None)
    return Version(at, file, number, snapshot.schema_id, snapshot.sequence_number)


METADATA: Metadata[Version] = Metadata(
    name="metadata_log",
    doc="One row per metadata file in the metadata log of an Iceberg table, the current file last.",
    columns=(
        Column("timestamp", MOMENT, "Time at which the file became current", lambda v: v.at),
        Column("file", TEXT, "Path of the file", lambda v: v.file),
        Column(
            "latest_snapshot_id",
            NUMBER,
            "Current snapshot at that time; NULL if there was none",
            lambda v: v.snapshot,
        ),
        Column("latest_schema_id", pa.int32(), "Schema id of that snapshot; NULL if unknown", lambda v: v.schema),
        Column(
            "latest_sequence_number", NUMBER, "Sequence number of that snapshot; NULL if unknown", lambda v: v.sequence
        ),
    ),
    facts=_facts,
)
TABLE = table_of_all(METADATA)
