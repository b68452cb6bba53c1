"""Opens text files, compressed or not, and translates read errors into errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import DataCorrupt, PermissionDenied, PinakesError

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File

COMPRESSIONS = ("auto", "none", "gzip", "zstd", "bz2", "lz4")
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}


@contextmanager
def text_stream(file: File, compression: str = "auto") -> Iterator[pa.NativeFile]:
    """Opens a text file, decompressed. The caller translates Arrow's read errors.

    The file is not closed here but with its last reference. Arrow reads ahead on other threads, which may hold the
    stream longer: a read from a closed file would take bytes of the next file that gets the same descriptor.
    """
    with read_errors(file):
        kind = _compression(file) if compression == "auto" else compression
        raw = file.stream()
    yield raw if kind == "none" else pa.CompressedInputStream(raw, kind)


def refuse_hostile(files: Sequence[File], what: str) -> None:
    """Raises PermissionDenied on a server, for formats whose libraries a hostile file can crash."""
    if any(file.may_be_hostile for file in files):
        raise PermissionDenied(
            f"{what} read for administrators only here, since a malformed one could stop the server: convert "
            f"{files[0]} to Parquet or CSV"
        )


def _compression(file: File) -> str:
    with file.open() if file.member is None else file.stream() as raw:
        start = raw.read(4)
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "none")


@contextmanager
def read_errors(file: File) -> Iterator[None]:
    """Translates errors of the system or Arrow into errors that name the file."""
    from pinakes.engine.files.path_errors import unreadable

    try:
        yield
    except (PinakesError, GeneratorExit):
        raise
    except PermissionError as error:
        raise unreadable(file.path) from error
    except FileNotFoundError as error:
        raise DataCorrupt(f"{file} was removed while it was read") from error
    except (OSError, EOFError, UnicodeError, pa.ArrowException) as error:
        if (said := error_of_store(error, file)) is not None:
            raise said from error
        raise DataCorrupt(f"{file} can not be read: {str(error).splitlines()[0][:300]}") from error


def error_of_store(error: Exception, file: File) -> PinakesError | None:
    """Translates an error of the object store of a file; None if it is about the file's content."""
    if file.is_local or not isinstance(error, OSError):
        return None
    from pinakes.engine.files.object_stores.errors import store_error
    from pinakes.engine.files.object_stores.stores import Remote

    assert isinstance(file.real, Remote)
    return store_error(error, file.path, file.real.store.secret)
