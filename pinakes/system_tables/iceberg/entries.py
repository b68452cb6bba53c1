"""system.iceberg.entries: the entries of the manifests of a table's current snapshot, including removed files."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import NUMBER, Column
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all
from pinakes.system_tables.iceberg_metadata.files import COLUMNS as FILE_COLUMNS
from pinakes.system_tables.iceberg_metadata.files import INT
from pinakes.system_tables.iceberg_metadata.manifests import File, current_manifests, files_in
from pinakes.system_tables.iceberg_metadata.partitions import shape_of


def _facts(inside: Inside) -> Iterable[File]:
    return files_in(inside, current_manifests(inside), deleted=True)


COLUMNS: tuple[Column[File], ...] = (
    Column("status", INT, "0: existing, 1: added, 2: deleted", lambda f: f.status),
    Column("snapshot_id", NUMBER, "Snapshot that added or deleted the file", lambda f: f.snapshot_id),
    Column("sequence_number", NUMBER, "Data sequence number of the file", lambda f: f.sequence("sequence_number")),
    Column(
        "file_sequence_number",
        NUMBER,
        "Sequence number of the commit that added the file",
        lambda f: f.sequence("file_sequence_number"),
    ),
    *FILE_COLUMNS,
)

METADATA: Metadata[File] = Metadata(
    name="entries",
    doc="One row per entry in the manifests of the current snapshot of an Iceberg table, including deleted files.",
    columns=COLUMNS,
    facts=_facts,
    reads_files=True,
    shapes={"partition": shape_of},
)
TABLE = table_of_all(METADATA)
