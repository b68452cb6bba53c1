"""remove_orphan_files(table, [older_than], [location], [dry_run]): files of the table that none of its snapshots uses.

Killed statements leave such files. A file that a statement is writing right now looks the same, so only those go that
are older than three days; with a later `older_than` they are only told, unless `dry_run => false` insists. What is in
the directory of another table below this one is left alone.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlparse

import pyarrow as pa
from pyarrow import fs
from pyiceberg.io.pyarrow import PyArrowFileIO

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.engine.procedures.base import TABLE, Parameter, Procedure, Rows, Work
from pinakes.engine.procedures.reachable import Reachable, metadata_files, plain
from pinakes.providers.iceberg import translated

log = logging.getLogger(__name__)

SAFE = timedelta(days=3)
KEPT = ("version-hint.text",)
"""What belongs to a table in a hadoop catalog, and stands in no metadata."""


def _run(work: Work) -> Rows:
    oldest = work.now - SAFE
    older_than: datetime = work["older_than"] or oldest
    dry = work["dry_run"] if work["dry_run"] is not None else older_than.astimezone(UTC) > oldest
    io = work.table.handle.io
    if not isinstance(io, PyArrowFileIO):
        raise NotSupportedError(f"the files of {work.found} can't be listed: they are read by {type(io).__name__}")
    orphans = sorted(_orphans(work, io, older_than.astimezone(UTC)))
    if not dry:
        for path in orphans:
            work.check()
            io.delete(path)
    return [(path,) for path in orphans]


def _orphans(work: Work, io: PyArrowFileIO, older_than: datetime) -> Iterator[str]:
    """The files are listed first: what is written meanwhile is not among them, and what is committed is known."""
    with translated("table", work.table.namespace, work.table.name):
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


def _listed(work: Work, io: PyArrowFileIO) -> Iterator[tuple[str, datetime]]:
    """Each file below the location with the time of its last change, as the table's metadata would write its path."""
    root = work.table.handle.metadata.location.rstrip("/")
    asked = (work["location"] or root).rstrip("/")
    if plain(asked) != plain(root) and not plain(asked).startswith(f"{plain(root)}/"):
        raise InvalidArgument(f"the location {asked!r} is not below that of {work.found}, which is {root!r}")
    scheme, netloc, path = PyArrowFileIO.parse_location(asked, io.properties)
    found = io.fs_by_scheme(scheme, netloc).get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    prefix = f"{scheme}://{netloc}" if urlparse(asked).scheme else ""
    for info in found:
        if info.type == fs.FileType.File:
            yield _address(prefix, scheme, netloc, info.path), info.mtime.astimezone(UTC)


def _address(prefix: str, scheme: str, netloc: str, path: str) -> str:
    if not prefix or scheme == "file":
        return f"{'file://' if prefix else ''}{path}"
    return f"{scheme}://{path}" if path.startswith(f"{netloc}/") or path == netloc else f"{prefix}{path}"


def _other_tables(paths: Iterator[str], root: str) -> set[str]:
    """The directories of tables that stand below this one's."""
    metadata = {posixpath.dirname(plain(p)) for p in paths if p.endswith((".metadata.json", ".metadata.json.gz"))}
    return {posixpath.dirname(directory) for directory in metadata} - {root}


PROCEDURE = Procedure(
    "remove_orphan_files",
    (TABLE, Parameter("older_than", "timestamp"), Parameter("location", "text"), Parameter("dry_run", "boolean")),
    pa.schema([("orphan_file_location", pa.string())]),
    _run,
    in_transactions=False,
)
