"""system.iceberg.all_entries: the entries of the manifests of all snapshots of a table."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.iceberg.entries import COLUMNS
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all
from pinakes.system_tables.iceberg_metadata.manifests import File, every_manifest, files_in
from pinakes.system_tables.iceberg_metadata.partitions import shape_of


def _facts(inside: Inside) -> Iterable[File]:
    return files_in(inside, every_manifest(inside), deleted=True)


METADATA: Metadata[File] = Metadata(
    name="all_entries",
    doc="One row per entry in the manifests of all snapshots of an Iceberg table; each manifest is read once.",
    columns=COLUMNS,
    facts=_facts,
    reads_files=True,
    shapes={"partition": shape_of},
)
TABLE = table_of_all(METADATA)
