"""COPY … TO an object store: rows are written to a local file, which is uploaded when it is complete.

If rows were uploaded as they come, an error or cancellation would leave a truncated object: Arrow completes an upload
that is not closed. With a single upload the object appears completely or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.errors import AlreadyExistsError, InvalidArgument, NotSupportedError
from pinakes.engine.files.scratch import Scratch
from pinakes.engine.files.store_paths import key_of
from pinakes.engine.files.write_target import write_errors

if TYPE_CHECKING:
    from pinakes.engine.files.stores import Remote, Stores


def stored(written: str, stores: Stores, *, partitioned: bool) -> Remote:
    """Returns the object to write to."""
    if partitioned:
        raise NotSupportedError(
            "PARTITION_BY is not supported for object stores yet: COPY to a directory of this machine, or a single file"
        )
    key = key_of(written)
    if "/" not in key or written.endswith("/"):
        raise InvalidArgument(f"'{written}' is a bucket or a directory: name a file in it")
    return stores.remote(key)


@contextmanager
def uploaded_file(target: Remote, *, overwrite: bool) -> Iterator[Path]:
    """Yields a file to write into; it is uploaded when the block ends."""
    if not overwrite and target.store.info(target.key).is_file:
        raise AlreadyExistsError(f"'{target.path}' exists: leave out OVERWRITE false to replace it")
    with write_errors(target.path):
        scratch = Scratch()
        try:
            place = scratch.path / "rows"
            place.touch()
            yield place
            _send(place, target)
        finally:
            scratch.remove()


def _send(place: Path, target: Remote) -> None:
    """Uploads in one native call, which interrupts cannot split."""
    from pyarrow.fs import LocalFileSystem, copy_files

    with target.store.naming_path(target.key):
        copy_files(
            str(place),
            target.key,
            source_filesystem=LocalFileSystem(),
            destination_filesystem=target.store.system,
            use_threads=False,
        )
