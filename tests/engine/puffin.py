"""Puffin files with deletion vectors, as the format has them: what other engines write for tables of version 3."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyroaring import BitMap64

MAGIC = b"PFA1"
VECTOR_MAGIC = b"\xd1\xd3\x39\x64"


@dataclass(frozen=True)
class Blob:
    """Where a vector stands in its file."""

    of: str
    offset: int
    length: int
    count: int


def puffin(vectors: Mapping[str, Iterable[int]]) -> tuple[bytes, list[Blob]]:
    """A file with the deleted rows of each data file, and where those of each are."""
    content, blobs = MAGIC, []
    for path, rows in vectors.items():
        bitmap = BitMap64(rows)
        vector = _framed(bitmap)
        blobs.append(Blob(path, len(content), len(vector), len(bitmap)))
        content += vector
    return content + _footer(blobs), blobs


def _framed(bitmap: BitMap64) -> bytes:
    checked = VECTOR_MAGIC + bitmap.serialize()
    return len(checked).to_bytes(4, "big") + checked + zlib.crc32(checked).to_bytes(4, "big")


def _footer(blobs: list[Blob]) -> bytes:
    told = json.dumps({"blobs": [_told(blob) for blob in blobs], "properties": {"created-by": "a test"}}).encode()
    return MAGIC + told + len(told).to_bytes(4, "little") + bytes(4) + MAGIC


def _told(blob: Blob) -> dict[str, object]:
    return {
        "type": "deletion-vector-v1",
        "fields": [2147483645],
        "snapshot-id": -1,
        "sequence-number": -1,
        "offset": blob.offset,
        "length": blob.length,
        "properties": {"referenced-data-file": blob.of, "cardinality": str(blob.count)},
    }
