"""The data files of a snapshot, each with the deletes that apply to it: what pyiceberg's reader is given.

pyiceberg knows deletes by position and deletion vectors. Deletes by equality it refuses; here they are taken out of its
planning and go to the data files by the rules of the format: to older ones of the same partition, and to all older ones
if they are of an unpartitioned spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyiceberg.manifest import DataFile, DataFileContent, ManifestEntry
from pyiceberg.table import FileScanTask

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.providers.foreign_errors import translate_foreign


class Task(FileScanTask):
    """A data file and its deletes."""

    equality: tuple[DataFile, ...]
    """Files of values: a row that has them, in the columns of `equality_ids`, is gone."""

    def __init__(self, of: FileScanTask, equality: Iterable[DataFile]) -> None:
        super().__init__(of.file, of.delete_files, of.residual)
        self.equality = tuple(equality)

    @property
    def is_clean(self) -> bool:
        return not self.delete_files and not self.equality


def plan(table: IcebergTable) -> list[Task]:
    """The data files of the table's current snapshot, each with the deletes that apply to it."""
    try:
        return _plan(table)
    except PinakesError:
        raise
    except Exception as error:
        name = ".".join((*table.namespace, table.name))
        damaged = DataCorrupt(f"table {name}: its manifests cannot be read: {error}")
        raise translate_foreign(error, f"table {name}") or damaged from error


def _plan(table: IcebergTable) -> list[Task]:
    snapshot = table.handle.current_snapshot()
    if snapshot is None:
        return []
    seen = _Seen()
    manifests = snapshot.manifests(table.handle.io)
    found = table.handle.scan()._manifest_planner.plan_files(manifests, seen.is_for_pyiceberg)
    unpartitioned = {i for i, spec in table.handle.metadata.specs().items() if spec.is_unpartitioned()}
    return [Task(task, seen.equality_of(task.file, unpartitioned)) for task in found]


class _Seen:
    """What pyiceberg does not keep of the entries it plans."""

    def __init__(self) -> None:
        self._sequence: dict[str, int] = {}
        self._equality: list[tuple[int, DataFile]] = []

    def is_for_pyiceberg(self, entry: ManifestEntry) -> bool:
        number = entry.sequence_number or 0
        if entry.data_file.content == DataFileContent.EQUALITY_DELETES:
            self._equality.append((number, entry.data_file))
            return False
        self._sequence[entry.data_file.file_path] = number
        return True

    def equality_of(self, file: DataFile, unpartitioned: set[int]) -> Sequence[DataFile]:
        mine = self._sequence[file.file_path]
        return [
            delete
            for number, delete in self._equality
            if mine < number
            and (
                delete.spec_id in unpartitioned
                or (delete.spec_id == file.spec_id and delete.partition == file.partition)
            )
        ]
