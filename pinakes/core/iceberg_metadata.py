"""Facts from the metadata of an Iceberg table: summaries of snapshots, the primary key, distinct value counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pinakes.core.errors import InvalidArgument
from pinakes.core.names import spell

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot
    from pyiceberg.table.statistics import StatisticsFile


def summary_value(snapshot: Snapshot | None, key: str) -> str | None:
    """Returns a property of the summary; None if it is missing or there is no snapshot."""
    return None if snapshot is None or snapshot.summary is None else snapshot.summary[key]


def summary_number(snapshot: Snapshot | None, key: str) -> int:
    """Returns a count of the summary; 0 if it is missing."""
    return int(summary_value(snapshot, key) or 0)


# --- primary key -------------------------------------------------------------------------------------------------


PROPERTY = "pinakes.primary-key"


def primary_key(schema: Schema, properties: Mapping[str, str]) -> list[str]:
    """Returns the key columns of a table in their declared order, if it is known."""
    names = [schema.find_column_name(number) or "" for number in schema.identifier_field_ids]
    declared = _declared(properties)
    if len(declared) != len(names):  # another engine has set another key
        return names
    renamed = iter([name for name in names if name not in declared])
    return [name if name in names else next(renamed, name) for name in declared]


def key_properties(names: Sequence[str]) -> dict[str, str]:
    """Returns the property for a declared key; empty for a single column."""
    return {PROPERTY: json.dumps(list(names), ensure_ascii=False)} if len(names) > 1 else {}


def rename_key_column(properties: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """Returns the property after a column is renamed."""
    declared = _declared(properties)
    return key_properties([new if name == old else name for name in declared]) if old in declared else {}


def _declared(properties: Mapping[str, str]) -> list[str]:
    """Parses the property, to which other engines may have written any text."""
    try:
        found = json.loads(properties.get(PROPERTY, "[]"))
    except ValueError:
        return []
    is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
    return found if is_list and len(set(found)) == len(found) else []


# --- CHECK constraints --------------------------------------------------------------------------------------------


CHECKS = "pinakes.check."
"""The start of the properties that hold CHECK constraints: `pinakes.check.name` is the condition. Other engines ignore
them."""


def checks_of(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the conditions of the CHECK constraints of a table by their names, sorted."""
    return {key.removeprefix(CHECKS): properties[key] for key in sorted(properties) if key.startswith(CHECKS)}


def check_not_given(properties: Iterable[str]) -> None:
    """Raises if a user sets or removes the property of a constraint."""
    found = next((key for key in properties if key.startswith(CHECKS)), None)
    if found is not None:
        raise InvalidArgument(
            f"the property {found} holds a CHECK constraint: write ALTER TABLE … ADD CONSTRAINT "
            f"{spell(found.removeprefix(CHECKS))} CHECK (…), or DROP CONSTRAINT"
        )


# --- distinct value counts ---------------------------------------------------------------------------------------


_DIGITS = 18
"""Maximum digits of a count: the value in a file may be a text of any length."""


def distinct_counts(metadata: TableMetadata) -> dict[int, float]:
    """Returns the counts by column id. For a table that changed since ANALYZE, the last count is used."""
    found: dict[int, float] = {}
    for file in _latest_first(metadata):
        for blob in file.blob_metadata:
            counted = (blob.properties or {}).get("ndv")
            if counted is not None and counted.isascii() and counted.isdecimal() and len(blob.fields) == 1:
                found.setdefault(blob.fields[0], float(counted[:_DIGITS]))
    return found


def _latest_first(metadata: TableMetadata) -> Iterator[StatisticsFile]:
    """Yields the statistics files of the current snapshot, then of its ancestors."""
    known = {file.snapshot_id: file for file in metadata.statistics}
    number = metadata.current_snapshot_id
    while known and number is not None:
        if number in known:
            yield known.pop(number)
        snapshot = metadata.snapshot_by_id(number)
        number = None if snapshot is None else snapshot.parent_snapshot_id
