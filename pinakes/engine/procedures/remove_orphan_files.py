"""remove_orphan_files(table, [older_than], [location], [dry_run]): removes files that no snapshot of the table uses.

Killed statements leave such files. A file that is being written looks the same, so only files older than three days are
removed; with a later `older_than` they are only listed, unless `dry_run => false` is given. Directories of other tables
below this one are skipped.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.core.location import Location
from pinakes.engine.iceberg.maintenance.reachable import Reachable, metadata_files, plain
from pinakes.engine.procedures.base import TABLE, Parameter, Procedure, Rows, Work
from pinakes.providers.iceberg.adapter import translate_errors
from pinakes.providers.iceberg.table_io import TableIO

log = logging.getLogger(__name__)

SAFE = timedelta(days=3)
KEPT = ("version-hint.text",)
"""Files of a table in a hadoop catalog that the metadata does not list."""


def _run(work: Work) -> Rows:
    oldest = work.now - SAFE
    older_than: datetime = work["older_than"] or oldest
    dry = work["dry_run"] if work["dry_run"] is not None else older_than.astimezone(UTC) > oldest
    io = work.table.handle.io
    if not isinstance(io, TableIO):
        raise NotSupportedError(f"the files of {work.found} can't be listed: they are read by {type(io).__name__}")
    orphans = sorted(_orphans(work, io, older_than.astimezone(UTC)))
    if not dry:
        for path in orphans:
            work.check()
            io.delete(path)
    return [(path,) for path in orphans]


def _orphans(work: Work, io: TableIO, older_than: datetime) -> Iterator[str]:
    """Yields the orphans. Files are listed before the metadata is read: files written meanwhile are not listed, and
    committed ones are known.
    """
    with translate_errors("table", work.table.namespace, work.table.name):
        listed = list(_listed(work, io))
    handle = work.table.handle.refresh()
    used = Reachable.of(handle.metadata.snapshots, io, work.check)
    known = metadata_files(handle.metadata, handle.metadata_location)
    others = _other_tables((path for path, _ in listed), plain(handle.metadata.location).rstrip("/"))
    for path, changed in listed:
        if path in used or plain(path) in known or posixpath.basename(path) in KEPT:
            continue
        if changed < older_than and not any(plain(path).startswith(f"{other}/") for other in others):
            yield path


def _listed(work: Work, io: TableIO) -> Iterator[tuple[str, datetime]]:
    """Yields each file below the location with its modification time, in the form of paths in the metadata.

    Files behind a link that leads out of the table are skipped.
    """
    root = Location.parse(work.table.handle.metadata.location.rstrip("/"))
    searched = Location.parse(work["location"].rstrip("/")) if work["location"] else root
    if not searched.is_below(root):
        raise InvalidArgument(f"the location '{searched}' is not below that of {work.found}, which is '{root}'")
    home = f"{root.identity}/"
    for location, changed in io.files_below(searched):
        if location.identity.startswith(home):
            yield location.text, changed.astimezone(UTC)


def _other_tables(paths: Iterator[str], root: str) -> set[str]:
    """Returns the directories of other tables below this one."""
    metadata = {posixpath.dirname(plain(p)) for p in paths if p.endswith((".metadata.json", ".metadata.json.gz"))}
    return {posixpath.dirname(directory) for directory in metadata} - {root}


PROCEDURE = Procedure(
    "remove_orphan_files",
    (TABLE, Parameter("older_than", "timestamp"), Parameter("location", "text"), Parameter("dry_run", "boolean")),
    pa.schema([("orphan_file_location", pa.string())]),
    _run,
    in_transactions=False,
)
