"""Branches and tags of a table: named snapshots, created, moved and dropped."""

from __future__ import annotations

from collections.abc import Sequence

from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from pyiceberg.table.update import (
    AssertRefSnapshotId,
    RemoveSnapshotRefUpdate,
    SetSnapshotRefUpdate,
    TableRequirement,
    TableUpdate,
)

from pinakes.core.errors import InvalidArgument, NotSupportedError, VersionExists, VersionNotFound, listing
from pinakes.engine.binding.namespaces import ResolvedTable
from pinakes.engine.iceberg.branches import new_ref
from pinakes.parser.statements import CreateRef, DropRef


def create_ref(transaction: Transaction, found: ResolvedTable, action: CreateRef) -> None:
    """Creates a branch or tag; an existing one is moved if the statement says REPLACE."""
    metadata = transaction.table_metadata
    existing = metadata.refs.get(action.name)
    if existing is not None and action.if_not_exists:
        return
    _check_kind(existing, action.kind, action.name, found)
    if existing is not None and not action.replace:
        raise VersionExists(
            f"{found} has a {action.kind} {action.name!r} already: REPLACE {action.kind.upper()} moves it, or choose "
            f"another name"
        )
    if existing is None and not action.create:
        raise no_ref(metadata, found, action.kind, action.name)
    set_ref(transaction, action.name, _ref(metadata, found, action, existing))


def check_kept(metadata: TableMetadata, found: ResolvedTable, actions: Sequence[object]) -> None:
    """Checks after the commit that the refs exist: some catalogs accept such a change and ignore it."""
    lost = [a for a in actions if isinstance(a, CreateRef) and a.name not in metadata.refs]
    if lost:
        raise NotSupportedError(
            f"catalog '{found.place.mount.name}' (type {found.place.mount.type}) keeps no branches or tags of tables: "
            f"it left out the {lost[0].kind} {lost[0].name!r}"
        )


def drop_ref(transaction: Transaction, found: ResolvedTable, action: DropRef) -> None:
    metadata = transaction.table_metadata
    existing = metadata.refs.get(action.name)
    if existing is None and action.if_exists:
        return
    if existing is None:
        raise no_ref(metadata, found, action.kind, action.name)
    _check_kind(existing, action.kind, action.name, found)
    if action.name == MAIN_BRANCH:
        raise InvalidArgument(f"{MAIN_BRANCH} is where {found} itself stands: it can't be dropped")
    transaction._apply((removed(action.name),), (_unmoved(action.name, existing),))


def set_ref(transaction: Transaction, name: str, ref: SnapshotRef) -> None:
    """Sets a branch or tag to a snapshot, unless it was moved concurrently."""
    update, unmoved = moved(name, ref), _unmoved(name, transaction.table_metadata.refs.get(name))
    transaction._apply((update,), (unmoved,))


def moved(name: str, ref: SnapshotRef) -> TableUpdate:
    return SetSnapshotRefUpdate.model_validate(
        {"action": "set-snapshot-ref", "ref-name": name, "type": ref.snapshot_ref_type, **_values(ref)}
    )


def removed(name: str) -> TableUpdate:
    return RemoveSnapshotRefUpdate.model_validate({"action": "remove-snapshot-ref", "ref-name": name})


def no_ref(metadata: TableMetadata, found: ResolvedTable, kind: str, name: str) -> VersionNotFound:
    known = [n for n, ref in metadata.refs.items() if ref.snapshot_ref_type == kind]
    return VersionNotFound(f"{found} has no {kind} {name!r}; it has: {listing(known)}")


def snapshot_of(metadata: TableMetadata, found: ResolvedTable, version: int | str | None) -> int:
    """Returns the id of a snapshot: from an id, a branch or tag name, or (None) the current snapshot."""
    if version is None:
        if metadata.current_snapshot_id is None:
            raise VersionNotFound(f"{found} has no snapshot yet: write rows to it first")
        return metadata.current_snapshot_id
    ref = metadata.refs.get(version) if isinstance(version, str) else None
    number = ref.snapshot_id if ref is not None else version
    if not isinstance(number, int) or metadata.snapshot_by_id(number) is None:
        ids = listing(str(s.snapshot_id) for s in metadata.snapshots)
        raise VersionNotFound(f"{found} has no version {version!r}; snapshots: {ids}; names: {listing(metadata.refs)}")
    return number


def _ref(metadata: TableMetadata, found: ResolvedTable, action: CreateRef, existing: SnapshotRef | None) -> SnapshotRef:
    """Returns the new ref. Settings that the statement does not give are kept when a ref is moved."""
    kept = existing.model_dump() if existing is not None else {}
    said = {
        "max_ref_age_ms": action.max_ref_age_ms,
        "min_snapshots_to_keep": action.min_snapshots_to_keep,
        "max_snapshot_age_ms": action.max_snapshot_age_ms,
    }
    if action.name == MAIN_BRANCH and action.max_ref_age_ms is not None:
        raise InvalidArgument(f"{MAIN_BRANCH} is where {found} itself stands: it never expires, so it takes no RETAIN")
    settings = {key: value if value is not None else kept.get(key) for key, value in said.items()}
    number = snapshot_of(metadata, found, action.version)
    return new_ref(number, SnapshotRefType(action.kind)).model_copy(update=settings)


def _check_kind(existing: SnapshotRef | None, kind: str, name: str, found: ResolvedTable) -> None:
    if existing is not None and existing.snapshot_ref_type != kind:
        other = str(existing.snapshot_ref_type.value)
        raise InvalidArgument(f"{name!r} is a {other} of {found}, not a {kind}")


def _unmoved(name: str, ref: SnapshotRef | None) -> TableRequirement:
    wanted = {"ref": name, "snapshot-id": ref.snapshot_id if ref is not None else None}
    return AssertRefSnapshotId.model_validate(wanted)


def _values(ref: SnapshotRef) -> dict[str, int | None]:
    return {
        "snapshot-id": ref.snapshot_id,
        "max-ref-age-ms": ref.max_ref_age_ms,
        "min-snapshots-to-keep": ref.min_snapshots_to_keep,
        "max-snapshot-age-ms": ref.max_snapshot_age_ms,
    }
