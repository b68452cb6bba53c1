"""Puffin files: a sequence of blobs, and a footer that describes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pinakes.core.version import __version__
from pinakes.providers.answers import AnswerTooLarge, check_json

MAGIC = b"PFA1"


@dataclass(frozen=True, slots=True)
class Blob:
    type: str
    fields: list[int]
    """The ids of its columns."""
    content: bytes = field(repr=False)
    properties: dict[str, str] = field(default_factory=dict)
    snapshot_id: int = -1
    sequence_number: int = -1
    compression: str | None = None
    """The compression codec of the content, if any."""


class Puffin(NamedTuple):
    content: bytes
    offsets: list[int]
    """The offset of each blob."""
    footer_size: int


def puffin(blobs: Sequence[Blob]) -> Puffin:
    offsets = [len(MAGIC)]
    for blob in blobs:
        offsets.append(offsets[-1] + len(blob.content))
    footer = _footer(blobs, offsets)
    return Puffin(MAGIC + b"".join(b.content for b in blobs) + footer, offsets[:-1], len(footer))


def _footer(blobs: Sequence[Blob], offsets: Sequence[int]) -> bytes:
    listed = [
        {
            "type": blob.type,
            "fields": blob.fields,
            "snapshot-id": blob.snapshot_id,
            "sequence-number": blob.sequence_number,
            "offset": offset,
            "length": len(blob.content),
            "properties": blob.properties,
            **({} if blob.compression is None else {"compression-codec": blob.compression}),
        }
        for blob, offset in zip(blobs, offsets, strict=False)
    ]
    payload = json.dumps({"blobs": listed, "properties": {"created-by": f"Pinakes {__version__}"}}).encode()
    return MAGIC + payload + len(payload).to_bytes(4, "little") + bytes(4) + MAGIC


def blobs_in(content: bytes) -> list[Blob]:
    """Returns the blobs of a Puffin file in stored form. Returns none if the footer cannot be read, or if the blobs
    have more bytes in total than the file; statistics can be recomputed.
    """
    if content[-4:] != MAGIC or content[-8:-4] != bytes(4):  # a flag: the footer is compressed
        return []
    size = int.from_bytes(content[-12:-8], "little")
    if size > len(content) - 12:
        return []
    footer = content[-12 - size : -12]
    try:
        check_json(footer)
        return _listed(content, json.loads(footer)["blobs"])
    except (AnswerTooLarge, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def _listed(content: bytes, listed: Sequence[dict[str, Any]]) -> list[Blob]:
    if any(entry["offset"] < 0 or entry["length"] < 0 for entry in listed):
        raise ValueError("a blob has a negative size")
    if sum(entry["length"] for entry in listed) > len(content):  # each is copied
        raise ValueError("the blobs are longer than the file")
    return [
        Blob(
            entry["type"],
            entry["fields"],
            content[entry["offset"] : entry["offset"] + entry["length"]],
            entry.get("properties", {}),
            entry["snapshot-id"],
            entry["sequence-number"],
            entry.get("compression-codec"),
        )
        for entry in listed
    ]
