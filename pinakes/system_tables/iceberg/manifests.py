"""system.iceberg.manifests: the manifests of a table's current snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.system_tables.base import NUMBER, TEXT, TRUTH, Column
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all
from pinakes.system_tables.iceberg_metadata.manifests import Manifest, current_manifests
from pinakes.system_tables.iceberg_metadata.partitions import result_type
from pinakes.system_tables.iceberg_metadata.values import readable_bound

INT = pa.int32()
SUMMARIES = pa.list_(
    pa.struct([("contains_null", TRUTH), ("contains_nan", TRUTH), ("lower_bound", TEXT), ("upper_bound", TEXT)])
)
Listed = tuple[Manifest, IcebergTable]
DELETES = 1


def _facts(inside: Inside) -> Iterable[Listed]:
    return ((manifest, inside.table) for manifest in current_manifests(inside))


def _get(name: str) -> Callable[[Listed], Any]:
    return lambda listed: listed[0].get(name)


def _count(name: str, content: int, listed: Listed) -> Any:
    """Returns a count. A manifest list has the same columns for data and delete manifests."""
    return listed[0].count(name) if listed[0].content == content else 0


def _data(name: str) -> Callable[[Listed], Any]:
    return partial(_count, name, 0)


def _deletes(name: str) -> Callable[[Listed], Any]:
    return partial(_count, name, DELETES)


def _summaries(listed: Listed) -> list[dict[str, Any]] | None:
    """Returns the summary of each partition field, in the order of the spec."""
    manifest, table = listed
    metadata = table.handle.metadata
    spec, found = metadata.specs().get(manifest.spec_id), manifest.get("partitions")
    if found is None:
        return None
    kinds = [result_type(f, metadata) for f in spec.fields] if spec is not None else []
    kinds += [None] * (len(found) - len(kinds))  # type: ignore[list-item]  # a spec that is not known
    return [
        {
            "contains_null": summary.get("contains_null"),
            "contains_nan": summary.get("contains_nan"),
            **{b: None if summary.get(b) is None else readable_bound(kind, summary[b]) for b in _BOUNDS},
        }
        for summary, kind in zip(found, kinds, strict=False)
    ]


_BOUNDS = ("lower_bound", "upper_bound")

COLUMNS: tuple[Column[Listed], ...] = (
    Column("path", TEXT, "Path of the manifest", lambda m: m[0].path),
    Column("length", NUMBER, "Size of the manifest in bytes", _get("manifest_length")),
    Column("partition_spec_id", INT, "Id of the partition spec of the files", lambda m: m[0].spec_id),
    Column("added_snapshot_id", NUMBER, "Snapshot that added the manifest", _get("added_snapshot_id")),
    Column("added_data_files_count", INT, "Number of added data files", _data("added")),
    Column("added_rows_count", NUMBER, "Number of rows in the added files", _get("added_rows_count")),
    Column("existing_data_files_count", INT, "Number of existing data files", _data("existing")),
    Column("existing_rows_count", NUMBER, "Number of rows in these files", _get("existing_rows_count")),
    Column("deleted_data_files_count", INT, "Number of deleted data files", _data("deleted")),
    Column("deleted_rows_count", NUMBER, "Number of rows in these files", _get("deleted_rows_count")),
    Column("partition_summaries", SUMMARIES, "Minimum and maximum of each partition field", _summaries),
    Column("content", INT, "0: data files, 1: delete files", lambda m: m[0].content),
    Column("added_delete_files_count", INT, "Number of added delete files", _deletes("added")),
    Column("existing_delete_files_count", INT, "Number of existing delete files", _deletes("existing")),
    Column("deleted_delete_files_count", INT, "Number of deleted delete files", _deletes("deleted")),
    Column(
        "sequence_number",
        NUMBER,
        "Sequence number of the commit that added the manifest; NULL in format version 1",
        _get("sequence_number"),
    ),
    Column(
        "min_sequence_number",
        NUMBER,
        "Minimum sequence number of the live files; NULL in format version 1",
        _get("min_sequence_number"),
    ),
)

METADATA: Metadata[Listed] = Metadata(
    name="manifests",
    doc="One row per manifest of the current snapshot of an Iceberg table.",
    columns=COLUMNS,
    facts=_facts,
    reads_files=True,
)
TABLE = table_of_all(METADATA)
