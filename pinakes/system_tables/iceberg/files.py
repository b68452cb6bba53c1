"""system.iceberg.files: the data and delete files of a table's current snapshot."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.iceberg_files import COLUMNS
from pinakes.system_tables.iceberg_manifests import File, current_manifests, files_in
from pinakes.system_tables.iceberg_metadata import Inside, Metadata, every
from pinakes.system_tables.iceberg_partitions import shape_of


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
TABLE = every(METADATA)
