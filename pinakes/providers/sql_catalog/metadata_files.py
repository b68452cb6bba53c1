"""Metadata files of tables and views: their locations, and how they are written, read and discarded."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pyiceberg.exceptions import ValidationError
from pyiceberg.serializers import Compressor, FromInputFile
from pyiceberg.typedef import UTF8
from pyiceberg.view.metadata import ViewMetadata

from pinakes.core.errors import DataCorrupt
from pinakes.providers.foreign_errors import summarize, translate_foreign
from pinakes.providers.iceberg.pyiceberg_gate import read_bounded

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata

logger = logging.getLogger(__name__)

M = TypeVar("M")


def unique_location(base: str, *names: str) -> str:
    """Returns a directory for a new table or view below `base`.

    It is unique, so that a table created under the old name of a renamed one never shares its directory. It has only
    plain characters, since readers interpret a space or a percent sign in a location differently.
    """
    *parents, last = (re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80] for name in names)
    return "/".join([base.rstrip("/"), *parents, f"{last}-{uuid.uuid4().hex[:12]}"])


def read_table_metadata(io: FileIO, location: str, what: str) -> TableMetadata:
    return read_metadata(location, what, lambda: FromInputFile.table_metadata(io.new_input(location)))


def read_view_metadata(io: FileIO, location: str, what: str) -> ViewMetadata:
    def read() -> ViewMetadata:
        with io.new_input(location).open() as stream:
            plain = Compressor.get_compressor(location).stream_decompressor(stream)  # Java compresses them
            return ViewMetadata.model_validate_json(read_bounded(plain))

    return read_metadata(location, what, read)


def write_view_metadata(metadata: ViewMetadata, io: FileIO, location: str) -> None:
    with io.new_output(location).create() as stream:
        stream.write(metadata.model_dump_json(exclude_none=True).encode(UTF8))


def discard(io: FileIO, location: str) -> None:
    """Deletes a metadata file that no row refers to. A remaining file is harmless, so a failure is only logged."""
    try:
        io.delete(location)
    except FileNotFoundError:
        pass  # it was never written
    except OSError:
        logger.warning("could not delete %s, the metadata file of a commit that failed", location, exc_info=True)


def read_metadata(location: str, what: str, read: Callable[[], M]) -> M:
    try:
        return read()
    except (PermissionError, ConnectionError, TimeoutError):
        raise  # the file may be fine
    except FileNotFoundError as error:
        raise DataCorrupt(f"{what} is damaged: its metadata file {location} is missing") from error
    except (OSError, EOFError, ValueError, ValidationError, KeyError) as error:
        damaged = DataCorrupt(f"{what} is damaged: its metadata file {location} can't be read: {_short(error)}")
        raise translate_foreign(error, f"{what}: its metadata file {location}") or damaged from error


def _short(error: Exception) -> str:
    """Returns the error in one line. pydantic's message has a heading, the reason, and then the complete input."""
    lines = str(summarize(error)).strip().splitlines() or [type(error).__name__]
    reason = " ".join(line.strip() for line in lines[1:3]) if "validation error" in lines[0] else lines[0]
    return reason.partition(" [type=")[0][:500]
