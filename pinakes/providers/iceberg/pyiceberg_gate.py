"""Patches of pyiceberg, of any version, for safety: the metadata of a table can neither name code to run, nor exhaust
the memory, nor read other memory of the process. Tables with other FileIO classes than ours, which a program may use
alongside Pinakes, keep pyiceberg's behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyiceberg.avro import file as avro_file
from pyiceberg.avro.codecs import KNOWN_CODECS
from pyiceberg.serializers import NOOP_COMPRESSOR, Compressor, FromByteStream
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil
from pyiceberg.types import FixedType, IcebergType, StructType

from pinakes.core.errors import DataCorrupt
from pinakes.providers.answers import AnswerTooLarge, check_json
from pinakes.providers.iceberg.checked_avro import CheckedDecoder, bounded_codec
from pinakes.providers.iceberg.table_io import TableIO, location_provider

if TYPE_CHECKING:
    from pyiceberg.io import InputStream
    from pyiceberg.table.locations import LocationProvider

WIDEST_FIXED = 10_000
"""Bytes of a fixed type, which each row takes, also for NULL: as of BINARY(n)."""
LARGEST_METADATA = 256 << 20
"""The maximum size of a metadata file, decompressed, in bytes."""

_THEIR_PROVIDER = Table.location_provider


def close_gate() -> None:
    setattr(Table, "location_provider", _location_provider)  # noqa: B010 - mypy lets no method be assigned
    setattr(FromByteStream, "table_metadata", staticmethod(_table_metadata))  # noqa: B010
    setattr(avro_file, "new_decoder", CheckedDecoder)  # noqa: B010
    for name, codec in KNOWN_CODECS.items():
        if codec is not None:
            KNOWN_CODECS[name] = bounded_codec(name, codec)


def read_bounded(stream: Any) -> bytes:
    """Returns the content of a stream; raises ValueError if it exceeds the limits for metadata."""
    content = bytes(stream.read(LARGEST_METADATA + 1))
    if len(content) > LARGEST_METADATA:
        raise ValueError(f"it has more than {LARGEST_METADATA >> 20} MB, the most that is read as metadata")
    try:
        check_json(content)
    except AnswerTooLarge as error:
        raise ValueError(str(error)) from error
    return content


def check_history(metadata: TableMetadata) -> None:
    """Raises DataCorrupt for snapshots that are their own ancestors, which would never end, and for fixed types so long
    that the NULLs of a column take all memory.
    """
    for schema in metadata.schemas:
        _check_widths(schema.as_struct())
    parents = {snapshot.snapshot_id: snapshot.parent_snapshot_id for snapshot in metadata.snapshots}
    ends: set[int | None] = {None}
    for number in parents:
        line: list[int | None] = []
        at: int | None = number
        while at not in ends and at in parents:
            line.append(at)
            if len(line) > len(parents):
                raise DataCorrupt(f"the metadata is damaged: snapshot {number} is among its own ancestors")
            at = parents[at]
        ends.update(line)


def _check_widths(kind: IcebergType) -> None:
    if isinstance(kind, FixedType) and not 0 <= len(kind) <= WIDEST_FIXED:
        raise DataCorrupt(f"the metadata has a type {kind}; a fixed type may have {WIDEST_FIXED} bytes")
    for part in (getattr(kind, name, None) for name in ("element_type", "key_type", "value_type")):
        if part is not None:
            _check_widths(part)
    if isinstance(kind, StructType):
        for field in kind.fields:
            _check_widths(field.field_type)


def _location_provider(self: Table) -> LocationProvider:
    if isinstance(self.io, TableIO):
        return location_provider(self.metadata.location, self.metadata.properties)
    return _THEIR_PROVIDER(self)


def _table_metadata(
    byte_stream: InputStream, encoding: str = "utf-8", compression: Compressor = NOOP_COMPRESSOR
) -> TableMetadata:
    with compression.stream_decompressor(byte_stream) as plain:
        content = read_bounded(plain)
    metadata = TableMetadataUtil.parse_raw(content.decode(encoding))
    check_history(metadata)
    return metadata
