"""The files that snapshots of a table reach. Procedures check this before they remove files; an error stops them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFileContent, ManifestFile
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.location import Location
from pinakes.providers.foreign_errors import translate_foreign


def plain(path: str) -> str:
    """Returns a normalised path: equal for all spellings of one file."""
    return Location.parse(path).identity


@dataclass(slots=True)
class Reachable:
    """Paths as written in the metadata, by normalised path."""

    lists: dict[str, str] = field(default_factory=dict)
    manifests: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[str, DataFileContent]] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshots: Iterable[Snapshot], io: FileIO, check: Callable[[], None]) -> Reachable:
        found = cls()
        found.add(snapshots, io, check)
        return found

    def add(self, snapshots: Iterable[Snapshot], io: FileIO, check: Callable[[], None] = lambda: None) -> None:
        """Adds the files of snapshots. Each manifest is read once; if one cannot be read, raises DataCorrupt, and
        nothing is removed.
        """
        for snapshot in snapshots:
            check()
            with _reading(snapshot):
                self._add(snapshot, io)

    def _add(self, snapshot: Snapshot, io: FileIO) -> None:
        self.lists[plain(snapshot.manifest_list)] = snapshot.manifest_list
        for manifest in snapshot.manifests(io):
            if plain(manifest.manifest_path) not in self.manifests:
                self.manifests[plain(manifest.manifest_path)] = manifest.manifest_path
                self._add_files(manifest, io)

    def _add_files(self, manifest: ManifestFile, io: FileIO) -> None:
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
            file = entry.data_file
            self.files[plain(file.file_path)] = file.file_path, DataFileContent(file.content)

    def __contains__(self, path: str) -> bool:
        key = plain(path)
        return key in self.files or key in self.manifests or key in self.lists


@contextmanager
def _reading(snapshot: Snapshot) -> Iterator[None]:
    try:
        yield
    except PinakesError:
        raise
    except Exception as error:
        what = f"the manifests of snapshot {snapshot.snapshot_id}"
        damaged = DataCorrupt(f"{what} can't be read, so nothing is removed: {error}")
        raise translate_foreign(error, what) or damaged from error


def metadata_files(metadata: TableMetadata, location: str) -> set[str]:
    """Returns the metadata files: the current one, those of the log, and statistics. The paths are normalised."""
    paths = {location, *(entry.metadata_file for entry in metadata.metadata_log)}
    paths |= {s.statistics_path for s in (*metadata.statistics, *metadata.partition_statistics)}
    return {plain(path) for path in paths}
