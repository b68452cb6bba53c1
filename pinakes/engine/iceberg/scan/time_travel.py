"""Time travel: a table at a snapshot, a branch, a tag or a time, with the schema of that version."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import UTC, datetime

from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Snapshot

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import InvalidArgument, VersionNotFound, listing

MOST_LISTED = 10


def at_version(table: IcebergTable, version: int | str) -> IcebergTable:
    """Returns the table at a snapshot id, branch or tag. A branch has the table's current schema."""
    metadata = table.handle.metadata
    ref = metadata.refs.get(version) if isinstance(version, str) else None
    number = ref.snapshot_id if ref is not None else _as_id(version)
    snapshot = metadata.snapshot_by_id(number) if number is not None else None
    if snapshot is None:
        raise _no_version(table, version)
    is_branch = ref is not None and ref.snapshot_ref_type == SnapshotRefType.BRANCH
    return _at(table, snapshot, own_schema=not is_branch)


def at_time(table: IcebergTable, moment: datetime) -> IcebergTable:
    """Returns the table at the snapshot that was current at a time."""
    handle = table.handle
    milliseconds = (moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // _MILLISECOND
    snapshot = handle.snapshot_as_of_timestamp(milliseconds)
    if snapshot is not None:
        return _at(table, snapshot, own_schema=True)
    entries = sorted(entry.timestamp_ms for entry in handle.history())
    known = f"its first snapshot is of {_shown(entries[0])}" if entries else "it has no snapshot"
    raise VersionNotFound(f"table {_name(table)} was not there at {_shown(milliseconds)}: {known}")


def _at(table: IcebergTable, snapshot: Snapshot, *, own_schema: bool) -> IcebergTable:
    metadata = table.handle.metadata
    known = {schema.schema_id for schema in metadata.schemas}
    schema = snapshot.schema_id if own_schema and snapshot.schema_id in known else metadata.current_schema_id
    handle = copy.copy(table.handle)
    handle.metadata = metadata.model_copy(
        update={"current_snapshot_id": snapshot.snapshot_id, "current_schema_id": schema}
    )
    return replace(table, handle=handle)


def _as_id(version: int | str) -> int | None:
    if isinstance(version, int):
        return version
    return int(version) if version.isascii() and version.isdigit() else None


def _no_version(table: IcebergTable, version: int | str) -> VersionNotFound:
    metadata = table.handle.metadata
    newest = sorted(metadata.snapshots, key=lambda s: s.timestamp_ms, reverse=True)
    shown = [f"{s.snapshot_id} ({_shown(s.timestamp_ms)})" for s in newest[:MOST_LISTED]]
    more = f" and {len(newest) - MOST_LISTED} more" if len(newest) > MOST_LISTED else ""
    return VersionNotFound(
        f"table {_name(table)} has no version {version!r}; branches and tags: {listing(metadata.refs)}; "
        f"snapshots: {', '.join(shown) or 'none'}{more}"
    )


def version_of(value: object) -> int | str:
    """Checks the argument of FOR VERSION AS OF."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidArgument(
            f"a version is the id of a snapshot or the name of a branch or tag, not {value!r}: "
            f"FOR VERSION AS OF 123, FOR VERSION AS OF 'main'"
        )
    return value


_MILLISECOND = (datetime(1970, 1, 1, microsecond=1000)) - datetime(1970, 1, 1)


def _shown(milliseconds: int) -> str:
    return (datetime(1970, 1, 1) + milliseconds * _MILLISECOND).isoformat(" ", "milliseconds") + " UTC"


def _name(table: IcebergTable) -> str:
    return ".".join((*table.namespace, table.name))
