"""A bounds-checking Avro decoder, and bounded decompression of Avro blocks.

pyiceberg's decoder reads beyond the end of a file if a length in the file says so: it would return other memory of this
process, or crash the process. This one checks each length first. A compressed block can have a thousand times its size
and more, and is unpacked in one step.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable

import pyarrow as pa
from pyiceberg.avro.codecs.codec import Codec
from pyiceberg.avro.decoder_fast import CythonBinaryDecoder

from pinakes.core.errors import DataCorrupt
from pinakes.core.varint import read_varint

MOST_UNPACKED = 256 << 20
"""Bytes that a block, or all blocks of a manifest, may have when they are unpacked."""
MOST_TIMES = 1032
"""Deflate makes no more bytes than this of one."""
_PIECE = 1 << 20


def unpack(codec: str, block: bytes, most: int = MOST_UNPACKED) -> bytes:
    """Returns the bytes of a compressed block; raises DataCorrupt if there are more than `most`."""
    unpacker = _UNPACKERS.get(codec)
    if unpacker is None:
        raise ValueError(f"its codec {codec[:20]!r} is unknown; known are {', '.join(_UNPACKERS)}")
    try:
        found = unpacker(block, most + 1)
    except (zlib.error, lzma.LZMAError, OSError, EOFError, pa.ArrowException) as error:
        raise ValueError(f"a block can't be decompressed: {error}") from error
    if len(found) > most:
        raise DataCorrupt(
            f"an Avro file of the table has blocks of more than {MOST_UNPACKED >> 20} MB, the most that are unpacked"
        )
    return found


def _unpack_snappy(block: bytes, most: int) -> bytes:
    """The length stands in front, and a checksum behind."""
    size, _ = read_varint(block, 0)
    if size >= most:
        return bytes(most)
    return bytes(pa.Codec("snappy").decompress(block[:-4], decompressed_size=size, asbytes=True))


def _unpack_zstandard(block: bytes, most: int) -> bytes:
    found = bytearray()
    with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as stream:
        while len(found) < most and (piece := stream.read(min(_PIECE, most - len(found)))):
            found += piece
    return bytes(found)


_UNPACKERS: dict[str, Callable[[bytes, int], bytes]] = {
    "deflate": lambda block, most: zlib.decompressobj(-15).decompress(block, most),
    "bzip2": lambda block, most: bz2.BZ2Decompressor().decompress(block, most),
    "xz": lambda block, most: lzma.LZMADecompressor(memlimit=MOST_UNPACKED).decompress(block, most),
    "snappy": _unpack_snappy,
    "zstandard": _unpack_zstandard,
}


def bounded_codec(name: str, codec: type[Codec]) -> type[Codec]:
    """Returns a codec of pyiceberg whose blocks have a limit when they are unpacked."""

    class Bounded(codec):  # type: ignore[misc, valid-type]
        @staticmethod
        def decompress(data: bytes) -> bytes:
            return unpack(name, data)

    return Bounded


class CheckedDecoder:
    """Raises DataCorrupt for bytes that the content does not have, and EOFError for a truncated number, as pyiceberg
    does.
    """

    def __init__(self, content: bytes) -> None:
        self._inner = CythonBinaryDecoder(content)
        self._size = len(content)
        self.tell = self._inner.tell
        self.read_int = self._inner.read_int  # it checks each byte of a number itself
        self.skip_int = self._inner.read_int

    def _check(self, count: int) -> None:
        left = self._size - self.tell()
        if not 0 <= count <= left:
            raise DataCorrupt(f"an Avro file of the table is damaged: it names {count} bytes where there are {left}")

    def read(self, n: int) -> bytes:
        self._check(n)
        return self._inner.read(n)

    def read_boolean(self) -> bool:
        self._check(1)
        return self._inner.read_boolean()

    def read_float(self) -> float:
        self._check(4)
        return self._inner.read_float()

    def read_double(self) -> float:
        self._check(8)
        return self._inner.read_double()

    def read_ints(self, count: int) -> tuple[int, ...]:
        self._check(count)
        return tuple(self.read_int() for _ in range(count))

    def read_int_bytes_dict(self, count: int, dest: dict[int, bytes]) -> None:
        self._check(count)
        for _ in range(count):
            key = self.read_int()
            dest[key] = self.read_bytes()

    def read_bytes(self) -> bytes:
        return self.read(self.read_int())

    def read_utf8(self) -> str:
        return self.read_bytes().decode()

    def skip(self, n: int) -> None:
        self._check(n)
        self._inner.skip(n)

    def skip_boolean(self) -> None:
        self.skip(1)

    def skip_float(self) -> None:
        self.skip(4)

    def skip_double(self) -> None:
        self.skip(8)

    def skip_bytes(self) -> None:
        self.skip(self.read_int())

    def skip_utf8(self) -> None:
        self.skip(self.read_int())
