"""Puffin files of a catalog whose footers lie: a few megabytes became terabytes when each blob was copied."""

from __future__ import annotations

import json

import pytest

from pinakes.engine.iceberg.write.puffin import MAGIC, Blob, blobs_in, puffin

BLOB = {"type": "t", "fields": [1], "snapshot-id": 1, "sequence-number": 1, "offset": 4, "length": 3}


def with_footer(footer: bytes, size: int | None = None) -> bytes:
    length = (len(footer) if size is None else size).to_bytes(4, "little")
    return MAGIC + b"abc" + MAGIC + footer + length + bytes(4) + MAGIC


def listing(*blobs: dict[str, object]) -> bytes:
    return json.dumps({"blobs": blobs}).encode()


def test_blobs_are_read() -> None:
    assert [blob.content for blob in blobs_in(with_footer(listing(BLOB)))] == [b"abc"]
    written = [Blob("t", [1], b"abc"), Blob("t", [2], b"de")]
    assert [blob.content for blob in blobs_in(puffin(written).content)] == [b"abc", b"de"]


@pytest.mark.parametrize(
    "content",
    [
        with_footer(listing(*[{**BLOB, "offset": 0, "length": 10_000}] * 1000)),
        with_footer(listing({**BLOB, "length": -1})),
        with_footer(listing({**BLOB, "offset": -1})),
        with_footer(listing({**BLOB, "offset": "4"})),
        with_footer(b"[]"),
        with_footer(b"{"),
        with_footer(b"[" * 100_000),
        with_footer(b'{"blobs": [' + b"[]," * 1_000_000 + b"[]]}"),
        with_footer(listing(BLOB), 1 << 31),
        b"",
    ],
    ids=["overlap", "length", "offset", "type", "list", "JSON", "depth", "dense", "size", "empty"],
)
def test_a_footer_that_lies_has_no_blobs(content: bytes) -> None:
    assert blobs_in(content) == []
