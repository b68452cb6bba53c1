"""The difference of two snapshots of a table: added and removed files.

Manifests that both have are not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, ManifestFile
from pyiceberg.table.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Difference:
    added: list[DataFile]
    """Data and delete files that only the later snapshot has."""
    removed: frozenset[str]
    """The paths of files that only the earlier snapshot has."""


def difference(earlier: Snapshot | None, later: Snapshot | None, io: FileIO) -> Difference:
    """Compares any two snapshots, whether or not one descends from the other."""
    before, after = _manifests(earlier, io), _manifests(later, io)
    old = _live((m for path, m in before.items() if path not in after), io)
    new = _live((m for path, m in after.items() if path not in before), io)
    return Difference([f for path, f in new.items() if path not in old], frozenset(old.keys() - new.keys()))


def _manifests(snapshot: Snapshot | None, io: FileIO) -> dict[str, ManifestFile]:
    return {} if snapshot is None else {m.manifest_path: m for m in snapshot.manifests(io)}


def _live(manifests: Iterable[ManifestFile], io: FileIO) -> dict[str, DataFile]:
    """Returns live files by identity: one Puffin file may hold several deletion vectors."""
    entries = (entry for manifest in manifests for entry in manifest.fetch_manifest_entry(io, discard_deleted=True))
    return {_key(entry.data_file): entry.data_file for entry in entries}


def _key(file: DataFile) -> str:
    offset = getattr(file, "content_offset", None)
    return file.file_path if offset is None else f"{file.file_path}#{offset}"
