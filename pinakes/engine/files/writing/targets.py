"""The targets of COPY … TO: a local path, replaced by a complete temporary file, or an object, uploaded when complete.

If the statement fails or is cancelled, the target is unchanged and the temporary file is removed. A query may therefore
read the file that it is copied to. Devices and pipes are written directly.

Rows for an object store are written to a local file first. If they were uploaded as they come, an error or cancellation
would leave a truncated object: Arrow completes an upload that is not closed. With a single upload the object appears
completely or not at all.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.core.errors import (
    AlreadyExistsError,
    FileNotFound,
    InvalidArgument,
    NotSupportedError,
    PermissionDenied,
    PinakesError,
    WriteFailed,
)
from pinakes.core.waiting import CHECK
from pinakes.engine.files.access import FileAccess
from pinakes.engine.files.object_stores.paths import key_of
from pinakes.engine.files.paths import local_text
from pinakes.engine.files.scratch import Scratch
from pinakes.engine.files.writing.options import FORMATS, PACKED

if TYPE_CHECKING:
    from pinakes.engine.files.object_stores.stores import Remote, Stores


_GLANCE = 0.05
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def resolve_path(path: str, access: FileAccess) -> Path:
    """Returns the path to write to. Access is checked before the path is inspected."""
    scheme = _SCHEME.match(path)
    if scheme is not None and scheme.group(1).lower() != "file":
        raise NotSupportedError(
            f"COPY … TO {scheme.group()} is not supported: of addresses, only s3:// and file:// can be written"
        )
    found = access.local(local_text(path))
    real = found.resolve() if found.is_symlink() and not is_device(found) else found  # a symbolic link stays in place
    if not real.parent.is_dir():
        raise FileNotFound(f"directory '{real.parent}' does not exist: create it first")
    return real


def is_device(path: Path) -> bool:
    """Returns whether a path is neither a file nor a directory. Paths below /dev count as devices even if they link to
    a file.
    """
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


@contextmanager
def replace_file(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """Yields a file to write into; it replaces `path` when the block ends."""
    if path.is_dir():
        raise InvalidArgument(f"'{path}' is a directory: name a file in it, or give PARTITION_BY to write directories")
    if not overwrite and path.exists():
        raise AlreadyExistsError(f"'{path}' exists: leave out OVERWRITE false to replace it")
    with write_errors(path):
        if is_device(path):
            with _reader_of(path):
                yield path
            return
        temporary = _temporary_name(path)
        try:
            _create_like(path, temporary)
            yield temporary
            _to_disk(temporary)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def _reader_of(path: Path) -> Iterator[None]:
    """Waits until a program reads a named pipe, so that the statement can be cancelled meanwhile: opening the pipe
    would block. It is held open, so that opening it again does not block."""
    if not path.is_fifo():
        yield
        return
    check = CHECK.get()
    while True:
        try:
            opened = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        if check is not None:
            check()
        time.sleep(_GLANCE)
    try:
        yield
    finally:
        os.close(opened)


@contextmanager
def replace_directory(path: Path, access: FileAccess, *, overwrite: bool, merge: bool) -> Iterator[Path]:
    """Yields a directory to write into; when the block ends it replaces `path`, or (`merge`) its files are moved
    there.
    """
    if path.exists() and not path.is_dir():
        raise InvalidArgument(f"'{path}' is a file: PARTITION_BY writes a directory")
    with write_errors(path):
        if path.is_dir() and any(path.iterdir()) and not merge:
            _check_replaceable(path, overwrite)
        temporary = _temporary_name(path)
        try:
            temporary.mkdir()
            yield temporary
            _move_into(temporary, path, access) if merge else _put_in_place(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def write_errors(path: Path | str) -> Iterator[None]:
    """Translates system errors into errors that name the path."""
    try:
        yield
    except PinakesError:
        raise
    except PermissionError as error:
        raise PermissionDenied(f"can't write '{path}': the system does not permit it") from error
    except OSError as error:
        raise WriteFailed(f"can't write '{path}': {_reason(error)}") from error


def _reason(error: OSError) -> str:
    """Returns the system's reason. Arrow prefixes it with text of its own, and may leave out the error number."""
    if error.errno is not None:
        return os.strerror(error.errno)
    number = re.search(r"\[errno (\d+)\]", str(error))
    return os.strerror(int(number.group(1))) if number else str(error)


def _temporary_name(path: Path) -> Path:
    """Returns a hidden name in the same directory (hence on the same file system) that is not read as data."""
    return path.with_name(f".pinakes-{secrets.token_hex(8)}.tmp")


def _create_like(path: Path, temporary: Path) -> None:
    """Creates the file with the mode of the file that it replaces, or with the default mode."""
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    if path.exists():
        temporary.chmod(path.stat().st_mode & 0o777)


def _to_disk(path: Path) -> None:
    """Flushes before the rename: otherwise a power cut could leave an empty file in place of the old one."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # the file system does not support fsync
            raise
    finally:
        os.close(handle)


def _check_replaceable(path: Path, overwrite: bool) -> None:
    if not overwrite:
        raise AlreadyExistsError(
            f"directory '{path}' is not empty. Give OVERWRITE to replace all that is in it, or OVERWRITE_OR_IGNORE to "
            f"write into it."
        )
    foreign = next((entry.name for entry in sorted(path.iterdir()) if not _is_data(entry)), None)
    if foreign is not None:
        raise AlreadyExistsError(
            f"OVERWRITE would remove '{foreign}' from '{path}', which is not data: remove it, or give another path"
        )


def _is_data(entry: Path) -> bool:
    """Returns whether COPY with PARTITION_BY may have written this entry. Only such entries are removed."""
    if entry.is_dir():
        return "=" in entry.name
    return entry.name.startswith("_") or entry.suffix.lower() in {*FORMATS, *PACKED}


def _put_in_place(temporary: Path, path: Path) -> None:
    old = _temporary_name(path)
    had = path.exists()
    if had:
        path.replace(old)
    try:
        temporary.replace(path)
    except BaseException:
        if had:
            old.replace(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _move_into(temporary: Path, path: Path, access: FileAccess) -> None:
    """Moves files into an existing directory. Access to all targets is checked first, since a subdirectory may be a
    link.
    """
    files = sorted(p for p in temporary.rglob("*") if p.is_file())
    places = [path / file.relative_to(temporary) for file in files]
    for place in places:
        access.local(str(place))
    for file, place in zip(files, places, strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)
    path.mkdir(exist_ok=True)


# --- object stores -----------------------------------------------------------------------------------------------


def resolve_object(written: str, stores: Stores, *, partitioned: bool) -> Remote:
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
def upload_file(target: Remote, *, overwrite: bool) -> Iterator[Path]:
    """Yields a file to write into; it is uploaded when the block ends."""
    if not overwrite and target.store.info(target.key).is_file:
        raise AlreadyExistsError(f"'{target.path}' exists: leave out OVERWRITE false to replace it")
    with write_errors(target.path):
        scratch = Scratch()
        try:
            place = scratch.path / "rows"
            place.touch()
            yield place
            _upload(place, target)
        finally:
            scratch.remove()


def _upload(place: Path, target: Remote) -> None:
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
