"""The files of a source and which of them are new: they are listed and compared with the ledger. None is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pinakes.core.errors import DataCorrupt, FileNotFound, NotFoundError, listing
from pinakes.core.names import Name
from pinakes.engine.files.object_stores.stores import Stores
from pinakes.engine.files.path_errors import Unmatched
from pinakes.engine.files.paths import File, Finder, is_store_path, local_text
from pinakes.pipelines.loads.ledger import History, Ledger, Mark
from pinakes.pipelines.loads.model import FilePlan, FileSource, Load

if TYPE_CHECKING:
    from pinakes.engine.session import Session

_SHOWN = 5


class FoundFiles(NamedTuple):
    """The found files: new ones, changed ones, and the number of loaded ones."""

    new: list[Mark]
    changed: list[Mark]
    loaded: int


def find_files(session: Session, source: FileSource) -> dict[str, File]:
    """Returns the files by path. An existing location without files yields none; a missing location is an error."""
    stores = Stores(session.engine.secrets, session.guard)
    finder = Finder(session.guard.files, stores=lambda: stores)
    try:
        files = finder.files([source.path], source.format)
    except FileNotFound as error:
        waits = isinstance(error, Unmatched) if is_store_path(source.path) else _base(source.path).is_dir()
        if not waits:
            raise
        return {}
    return {path_of(file): file for file in files}


def path_of(file: File) -> str:
    return str(file.local) if file.is_local else file.path


def mark_of(file: File) -> Mark:
    stamp = file.stamp
    version = stamp.modified if file.is_local else stamp.identity or stamp.modified
    return Mark(path_of(file), stamp.size, str(version))


def compare_files(load: Load, found: Mapping[str, File], loaded: Mapping[str, Mark]) -> FoundFiles:
    marks = [mark_of(file) for file in found.values()]
    new = [mark for mark in marks if mark.path not in loaded]
    changed = [mark for mark in marks if mark.path in loaded and loaded[mark.path] != mark]
    if load.changed_files == "load":
        return FoundFiles(new + changed, [], len(marks) - len(new) - len(changed))
    return FoundFiles(new, changed if load.changed_files == "fail" else [], len(marks) - len(new) - len(changed))


def check_unchanged(load: Load, changed: Sequence[Mark]) -> None:
    if changed:
        names = listing(f"'{mark.path}'" for mark in changed[:_SHOWN])
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        raise DataCorrupt(
            f"table {load.name} was loaded from files that were changed since: {names}{more}. Nothing was loaded. Give "
            f"new data a new name; or set changed_files: load (their rows are added to the old ones) or "
            f"ignore; or load everything again with --full-refresh."
        )


def are_unchanged(files: Iterable[Mark], found: Mapping[str, File]) -> bool:
    """Whether the files of a batch still exist and are unchanged."""
    return all(mark.path in found and mark_of(found[mark.path]) == mark for mark in files)


def new_files(session: Session, load: Load) -> FilePlan:
    """Returns what the load would do now. It starts no Spark and opens no file."""
    if not isinstance(load.source, FileSource):
        return FilePlan(())
    found = find_files(session, load.source)
    history = _history(session, load)
    begun = {} if history.open is None else {mark.path: mark for mark in history.open.files}
    loaded = {path: mark for path, mark in history.loaded().items() if path not in begun}
    sorted_ = compare_files(load, {p: f for p, f in found.items() if p not in begun}, loaded)
    size = sum(mark.size for mark in (*sorted_.new, *begun.values()))
    paths = [tuple(mark.path for mark in marks) for marks in (sorted_.new, begun.values(), sorted_.changed)]
    return FilePlan(paths[0], paths[1], paths[2], sorted_.loaded, size)


def _history(session: Session, load: Load) -> History:
    try:
        _, table = session.resolver.described(Name.of(*load.target))
    except NotFoundError:
        return History([])
    ledger = Ledger(session, load.target[0])
    return ledger.history(".".join(load.target[1:]), str(table.handle.metadata.table_uuid))


def _base(written: str) -> Path:
    """Returns the directory at the start of a path or pattern."""
    parts = Path(local_text(written)).expanduser().parts
    first = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), None)
    return Path(*parts[:first]) if first is not None else Path(*parts)
