"""system.iceberg.partitions: the aggregated contents of each partition of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.core.output.value_format import as_json
from pinakes.core.types.iceberg_arrow import arrow_type_of
from pinakes.system_tables.base import MOMENT, NUMBER, TEXT, Column
from pinakes.system_tables.iceberg_metadata.declaration import Both, Inside, Metadata, table_of_all
from pinakes.system_tables.iceberg_metadata.files import INT
from pinakes.system_tables.iceberg_metadata.manifests import File, current_manifests, files_in
from pinakes.system_tables.iceberg_metadata.partitions import Partition, shape_of
from pinakes.system_tables.iceberg_metadata.statistics import Statistics, plain_columns
from pinakes.system_tables.iceberg_metadata.values import format_value


@dataclass(slots=True)
class Contents:
    """The contents of one partition."""

    inside: Inside
    spec_id: int
    partition: Partition
    statistics: Statistics | None
    """None if the query does not read it: it is the slowest part."""
    rows: dict[int, int] = field(default_factory=lambda: dict.fromkeys((0, 1, 2), 0))
    """Row counts by file content: data, position deletes, equality deletes."""
    files: dict[int, int] = field(default_factory=lambda: dict.fromkeys((0, 1, 2), 0))
    size: int = 0
    updated: tuple[int, int] | None = None
    """The time of the last update, and its snapshot."""

    def add(self, file: File, snapshots: dict[int, int]) -> None:
        content = file.content
        self.rows[content] += file.get("record_count")
        self.files[content] += 1
        if content == 0:
            self.size += file.get("file_size_in_bytes")
            if self.statistics is not None:
                self.statistics.add(file)
        number = file.snapshot_id
        if number in snapshots:
            self.updated = max(self.updated or (0, 0), (snapshots[number], number))


def _facts(inside: Inside) -> Iterable[Contents]:
    snapshots = {s.snapshot_id: s.timestamp_ms for s in inside.metadata.snapshots}
    found: dict[tuple[int, str | None], Contents] = {}
    for file in files_in(inside, current_manifests(inside), deleted=False):
        spec, partition = file.of.manifest.spec_id, file.partition
        if (spec, partition.text) not in found:
            statistics = Statistics(inside.table.handle.schema()) if "data" in inside.columns else None
            found[spec, partition.text] = Contents(inside, spec, partition, statistics)
        found[spec, partition.text].add(file, snapshots)
    return [found[key] for key in sorted(found, key=lambda k: (k[0], k[1] or ""))]


def _data(contents: Contents) -> Both:
    """Returns the bounds and counts of each column; in JSON the values are strings."""
    typed: dict[str, dict[str, object]] = {}
    texts: dict[str, dict[str, object]] = {}
    assert contents.statistics is not None
    for column in plain_columns(contents.inside.table.handle.schema()):
        of = contents.statistics.columns[column.field_id]
        counts = {"null_count": of.sums["null_value_counts"], "nan_count": of.sums["nan_value_counts"]}
        typed[column.name] = {"min": of.low, "max": of.high, **counts}
        texts[column.name] = {"min": format_value(of.kind, of.low), "max": format_value(of.kind, of.high), **counts}
    return Both(typed, as_json(texts))


def _data_shape(table: IcebergTable) -> pa.DataType | None:
    fields = []
    for column in plain_columns(table.handle.schema()):
        kind = arrow_type_of(column.field_type)
        fields.append((column.name, pa.struct([("min", kind), ("max", kind), *_COUNTS])))
    return pa.struct(fields) if fields else None


_COUNTS = (("null_count", NUMBER), ("nan_count", NUMBER))

METADATA: Metadata[Contents] = Metadata(
    name="partitions",
    doc="One row per partition of the current snapshot of an Iceberg table; one row for a table without partitions.",
    columns=(
        Column("partition", TEXT, "Partition values", lambda c: c.partition),
        Column("record_count", NUMBER, "Number of rows in the data files, including deleted rows", lambda c: c.rows[0]),
        Column("file_count", NUMBER, "Number of data files", lambda c: c.files[0]),
        Column("total_size", NUMBER, "Size of the data files in bytes", lambda c: c.size),
        Column("data", TEXT, "Bounds and counts of each column; NULL if a file lacks them", _data),
        Column("spec_id", INT, "Id of the partition spec of the files", lambda c: c.spec_id),
        Column("position_delete_record_count", NUMBER, "Number of rows in position delete files", lambda c: c.rows[1]),
        Column("position_delete_file_count", NUMBER, "Number of position delete files", lambda c: c.files[1]),
        Column("equality_delete_record_count", NUMBER, "Number of rows in equality delete files", lambda c: c.rows[2]),
        Column("equality_delete_file_count", NUMBER, "Number of equality delete files", lambda c: c.files[2]),
        Column(
            "last_updated_at",
            MOMENT,
            "Time at which a file was last added; NULL if that snapshot has expired",
            lambda c: c.updated and c.updated[0],
        ),
        Column(
            "last_updated_snapshot_id", NUMBER, "Snapshot that last added a file", lambda c: c.updated and c.updated[1]
        ),
    ),
    facts=_facts,
    reads_files=True,
    shapes={"partition": shape_of, "data": _data_shape},
)
TABLE = table_of_all(METADATA)
