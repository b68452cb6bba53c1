"""system.iceberg.properties: the properties of a table, its location, format version and other attributes."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.system_tables.base import TEXT, Column
from pinakes.system_tables.catalog_metadata.columns import properties_of
from pinakes.system_tables.iceberg_metadata.declaration import Inside, Metadata, table_of_all


def _facts(inside: Inside) -> Iterable[tuple[str, str]]:
    metadata = inside.metadata
    found = {**properties_of(inside.table), "location": metadata.location, "uuid": str(metadata.table_uuid)}
    if metadata.current_snapshot_id is not None:
        found["current-snapshot-id"] = str(metadata.current_snapshot_id)
    return sorted(found.items())


METADATA: Metadata[tuple[str, str]] = Metadata(
    name="properties",
    doc="One row per property of an Iceberg table, including its location and format version.",
    columns=(
        Column("key", TEXT, "Name of the property", lambda p: p[0]),
        Column("value", TEXT, "Value of the property", lambda p: p[1]),
    ),
    facts=_facts,
)
TABLE = table_of_all(METADATA)
