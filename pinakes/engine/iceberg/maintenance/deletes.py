"""Rewrites position deletes: one delete file per data file (or one deletion vector in version 3), and removes delete
files that no longer apply to any data file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyiceberg.table.snapshots import Operation
from pyroaring import BitMap64

from pinakes.engine.iceberg.scan.deletes import POSITIONS, DeleteFile, delete_files
from pinakes.engine.iceberg.scan.manifests import delete_manifest, manifest_list
from pinakes.engine.iceberg.write.commit import begin, commit, hold_schema
from pinakes.engine.iceberg.write.delete_files import DeleteWriter
from pinakes.engine.iceberg.write.overwrite import Files, overwrite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pinakes.engine.iceberg.write.rewrite import Rewrite


@dataclass(frozen=True, slots=True)
class Rewritten:
    replaced: int = 0
    added: int = 0
    replaced_bytes: int = 0
    added_bytes: int = 0


def rewrite_deletes(
    change: Rewrite, candidates: Iterable[int], *, everything: bool = False, dry: bool = False
) -> Rewritten:
    """Rewrites the deletes of candidates that have several delete files, or one shared with other data files.

    A `dry` run only returns the counts.
    """
    chosen = [n for n in candidates if everything or _is_scattered(change, n)]
    chosen = [n for n in chosen if n in change.files.deletes and change.files.deletes[n].positions]
    gone = _replaced(change, set(chosen))
    if dry or not (chosen or gone):
        return Rewritten(len(gone), len(chosen), _size(gone))
    tasks = {task.file.file_path: task for task in change.tasks(chosen).values()}
    with DeleteWriter(change.table, change.cache) as writer:
        if tasks:
            writer.write({path: BitMap64() for path in tasks}, tasks)
        _commit(change, writer, gone)
        writer.keep()
    sizes = {file.file_path: file.file_size_in_bytes for file in writer.files}
    return Rewritten(len(gone), len(writer.files), _size(gone), sum(sizes.values()))


def _is_scattered(change: Rewrite, number: int) -> bool:
    deletes = change.files.deletes.get(number)
    if deletes is None or not deletes.positions:
        return False
    vectors = change.table.handle.format_version >= 3
    return len(deletes.positions) > 1 or any(f.target is None or f.is_vector != vectors for f in deletes.positions)


def _replaced(change: Rewrite, chosen: set[int]) -> list[DeleteFile]:
    """Returns the delete files that apply only to chosen files, or to none."""
    still = {
        (file.path, file.offset)
        for number, deletes in change.files.deletes.items()
        if number not in chosen
        for file in deletes.positions
    }
    return [file for file in _positional(change) if (file.path, file.offset) not in still]


def _positional(change: Rewrite) -> list[DeleteFile]:
    """Returns all position delete files of the snapshot."""
    handle, cache = change.table.handle, change.cache
    snapshot = handle.current_snapshot()
    if snapshot is None or not snapshot.manifest_list:
        return []
    listed = manifest_list(cache, handle.io, snapshot.manifest_list).deletes
    manifests = [delete_manifest(cache, handle.io, manifest) for manifest in listed]
    return [file for file in delete_files(manifests) if file.content == POSITIONS]


def _size(files: list[DeleteFile]) -> int:
    """Returns the total size. Several deletion vectors may be in one file, which is counted once."""
    return sum({file.path: file.size for file in files}.values())


def _commit(change: Rewrite, writer: DeleteWriter, gone: list[DeleteFile]) -> None:
    change.execution.query.check()
    transaction = begin(change.table)
    hold_schema(transaction)
    files = Files(added_deletes=writer.files, removed_deletes=gone, reads=lambda file: False)
    overwrite(transaction, files, Operation.REPLACE)
    commit(transaction, change.found.place, change.found.name)
