"""Rewrites manifests: the same files in fewer manifests, with files of one partition next to each other.

A table that grew by small commits has many manifests, and the files of a partition are scattered over them; planning
reads all of them. Data files are not touched, and concurrent commits do not conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from pyiceberg.manifest import ManifestContent, ManifestEntry, ManifestFile
from pyiceberg.table import TableProperties
from pyiceberg.table.snapshots import Operation
from pyiceberg.utils.properties import property_as_int

from pinakes.engine.iceberg.write.commit import begin, commit
from pinakes.engine.iceberg.write.overwrite import Change, carried

if TYPE_CHECKING:
    from pinakes.core.catalog import IcebergTable
    from pinakes.engine.binding.namespaces import ResolvedTable

Key = tuple[int, ManifestContent]


@dataclass(frozen=True, slots=True)
class Rewritten:
    replaced: int = 0
    added: int = 0


def rewrite_manifests(table: IcebergTable, found: ResolvedTable, spec_id: int, *, dry: bool = False) -> Rewritten:
    """Rewrites the manifests of one partition spec, if that reduces their number. A `dry` run only returns the
    counts.
    """
    planned = _planned(table, spec_id)
    if dry or not planned.replaced:
        return planned
    transaction = begin(table)
    change = Manifests(Operation.REPLACE, transaction, transaction._table.io)
    change.of_spec = spec_id
    with change:
        pass  # no files are added
    commit(transaction, found.place, found.name)
    return change.rewritten


def _planned(table: IcebergTable, spec_id: int) -> Rewritten:
    snapshot, target = table.handle.current_snapshot(), _target(table.handle.metadata.properties)
    manifests = [] if snapshot is None else snapshot.manifests(table.handle.io)
    chosen = _chosen(manifests, spec_id, target)
    return Rewritten(sum(map(len, chosen.values())), sum(_parts(of, target) for of in chosen.values()))


def _chosen(manifests: Iterable[ManifestFile], spec_id: int, target: int) -> dict[Key, list[ManifestFile]]:
    """Returns the manifests to rewrite, by spec and content."""
    return {kind: of for kind, of in _by_kind(manifests, spec_id).items() if len(of) > _parts(of, target)}


def _by_kind(manifests: Iterable[ManifestFile], spec_id: int) -> dict[Key, list[ManifestFile]]:
    found: dict[Key, list[ManifestFile]] = defaultdict(list)
    for manifest in manifests:
        if manifest.partition_spec_id == spec_id:
            found[spec_id, manifest.content].append(manifest)
    return found


def _target(properties: dict[str, str]) -> int:
    default = TableProperties.MANIFEST_TARGET_SIZE_BYTES_DEFAULT
    return property_as_int(properties, TableProperties.MANIFEST_TARGET_SIZE_BYTES, default) or default


def _parts(manifests: Sequence[ManifestFile], target: int) -> int:
    """Returns the number of manifests that the files need."""
    return max(1, ceil(sum(manifest.manifest_length for manifest in manifests) / target))


class Manifests(Change):
    """The snapshot producer of the rewrite."""

    of_spec: int = 0
    rewritten: Rewritten = Rewritten()

    def _validate_concurrency(self) -> None:
        """Concurrent commits never conflict: the manifests are built from the current snapshot."""

    def _manifests(self) -> list[ManifestFile]:
        self._removed_files = []
        metadata = self._transaction.table_metadata
        snapshot = metadata.snapshot_by_id(self._parent_snapshot_id or -1)
        there = [] if snapshot is None else snapshot.manifests(self._io)
        target = _target(metadata.properties)
        kinds = _chosen(there, self.of_spec, target)
        old = {manifest.manifest_path for of in kinds.values() for manifest in of}
        new = [m for (_, content), of in kinds.items() for m in self._rewritten(content, of, _parts(of, target))]
        self.rewritten = Rewritten(len(old), len(new))
        kept = [manifest for manifest in there if manifest.manifest_path not in old]
        self.snapshot_properties = {**self.snapshot_properties, **_summary(len(new), len(kept), len(old))}
        return new + kept

    def _rewritten(self, content: ManifestContent, old: Sequence[ManifestFile], parts: int) -> Iterator[ManifestFile]:
        entries = sorted((e for m in old for e in self.fetch_manifest_entry(m)), key=_partition)
        each = max(1, ceil(len(entries) / parts))
        for start in range(0, len(entries), each):
            with self._writer(self.of_spec, content) as writer:
                for entry in entries[start : start + each]:
                    writer.add_entry(carried(entry, self._snapshot_id, removed=False))
            yield writer.to_manifest_file()


def _partition(entry: ManifestEntry) -> tuple[tuple[bool, str, object], ...]:
    """Returns a sort key that groups files by partition, for partition values of any type."""
    values = entry.data_file.partition
    return tuple(_comparable(values[at]) for at in range(len(values)))


def _comparable(value: object) -> tuple[bool, str, object]:
    plain = value if isinstance(value, int | str) and not isinstance(value, bool) else str(value)
    return value is not None, type(plain).__name__, plain


def _summary(created: int, kept: int, replaced: int) -> dict[str, str]:
    counts = {"created": created, "kept": kept, "replaced": replaced}
    return {f"manifests-{what}": str(count) for what, count in counts.items()}
