"""Changes of a local HadoopCatalog: each becomes visible in one atomic step of the file system, or not at all.

A version of a table is claimed by a hard link, which fails if the name exists: only one of two writers succeeds.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pinakes.core.errors import NotSupportedError
from pinakes.providers.hadoop_catalog.versions import HINT, METADATA, file_of
from pinakes.providers.hadoop_catalog.warehouse import LocalDirectory

logger = logging.getLogger(__name__)

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


class Taken(Exception):
    """Another writer wrote this version."""


class Removed(Exception):
    """The table's directory no longer exists, or was replaced."""


class LocalWarehouse(LocalDirectory):
    """The warehouse, with operations that change it."""

    def make(self, *parts: str) -> None:
        """Creates a directory and its parents."""
        self.root.joinpath(*parts).mkdir(parents=True, exist_ok=True)

    def remove_empty(self, *parts: str) -> None:
        self.root.joinpath(*parts).rmdir()

    def remove_hollow(self, *parts: str) -> None:
        """Removes the remains of a table whose creation did not finish: directories without files."""
        for path, _, _ in os.walk(self.root.joinpath(*parts), topdown=False):
            with suppress(OSError):  # not empty, so it stays
                Path(path).rmdir()

    @contextmanager
    def opened(self, *parts: str) -> Iterator[int]:
        """Opens the table's metadata directory, to detect that another table has replaced it."""
        try:
            handle = os.open(self.root.joinpath(*parts, METADATA), os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Removed from error
        try:
            yield handle
        finally:
            os.close(handle)

    def publish(self, directory: int, version: int, content: bytes, *parts: str) -> None:
        """Makes `content` the version of the table in the opened directory; raises Taken if that version exists."""
        temporary = f".{uuid.uuid4().hex}.tmp"
        try:
            _write(temporary, content, directory)
            _link(temporary, file_of(version), directory)
        except FileNotFoundError as error:
            raise Removed from error
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=directory)
        self._check_same(directory, *parts)
        _hint(version, directory)

    def remove_table(self, *parts: str) -> None:
        """Removes a table atomically for readers: the directory is renamed first, then deleted."""
        path = self.root.joinpath(*parts)
        hidden = path.with_name(f".{uuid.uuid4().hex}.dropped")
        try:
            path.rename(hidden)
        except FileNotFoundError as error:
            raise Removed from error
        if hidden.is_symlink():
            hidden.unlink()
        else:
            shutil.rmtree(hidden)

    def _check_same(self, directory: int, *parts: str) -> None:
        """Raises if the table was dropped meanwhile, and possibly recreated: the written file was then removed with the
        old table.
        """
        try:
            same = os.path.samestat(os.fstat(directory), self.root.joinpath(*parts, METADATA).stat())
        except FileNotFoundError:
            same = False
        if not same:
            raise Removed


def _write(name: str, content: bytes, directory: int) -> None:
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666, dir_fd=directory)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(handle)


def _link(source: str, target: str, directory: int) -> None:
    try:
        os.link(source, target, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)
    except FileExistsError as error:
        raise Taken from error
    except OSError as error:
        if error.errno in _NO_LINKS:
            raise NotSupportedError(
                "this file system has no hard links, so two writers could not be distinguished: tables of a hadoop "
                "catalog on it can only be read"
            ) from error
        raise


def _hint(version: int, directory: int) -> None:
    """Writes the version hint. A missing or outdated hint is harmless, so a failure is only logged."""
    temporary = f".{uuid.uuid4().hex}.tmp"
    try:
        _write(temporary, str(version).encode(), directory)
        with suppress(FileNotFoundError):
            os.unlink(f".{HINT}.crc", dir_fd=directory)  # Java's checksum of the old one
        os.rename(temporary, HINT, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError as error:
        logger.warning("the version hint of a table could not be written: %s", error.strerror)
