"""system.iceberg.files: the data and delete files of a table's current snapshot."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all
from pinakes.system_tables.iceberg_metadata.files import COLUMNS
from pinakes.system_tables.iceberg_metadata.manifests import File, current_manifests, files_in
from pinakes.system_tables.iceberg_metadata.partitions import shape_of


def _facts(inside: Inside) -> Iterable[File]:
    return files_in(inside, current_manifests(inside), deleted=False)


METADATA: Metadata[File] = Metadata(
    name="files",
    doc="One row per data or delete file of the current snapshot of an Iceberg table.",
    columns=COLUMNS,
    facts=_facts,
    reads_files=True,
    shapes={"partition": shape_of},
)
TABLE = table_of_all(METADATA)
