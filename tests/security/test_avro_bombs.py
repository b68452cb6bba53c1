"""Compressed blocks of Avro files are unpacked within limits: a manifest of 1 MB could take gigabytes."""

from __future__ import annotations

import bz2
import lzma
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.core.varint import as_varint
from pinakes.engine.datafusion import avro
from pinakes.providers.iceberg import checked_avro
from pinakes.providers.iceberg.checked_avro import unpack
from tests.engine.support import an_engine, do, rows

CODECS = ("deflate", "bzip2", "xz", "snappy", "zstandard")
LIMIT = 1 << 20


def _packed(codec: str, data: bytes) -> bytes:
    match codec:
        case "deflate":
            made = zlib.compressobj(9, wbits=-15)
            return made.compress(data) + made.flush()
        case "bzip2":
            return bz2.compress(data)
        case "xz":
            return lzma.compress(data)
        case "snappy":
            return bytes(pa.compress(data, "snappy", asbytes=True)) + b"crc."
        case _:
            return bytes(pa.compress(data, "zstd", asbytes=True))


@pytest.mark.parametrize("codec", CODECS)
def test_a_block_is_unpacked_within_limits(codec: str) -> None:
    data = b"abc" * 1000
    assert unpack(codec, _packed(codec, data), len(data)) == data
    with pytest.raises(DataCorrupt, match="unpacked"):
        unpack(codec, _packed(codec, bytes(50 * LIMIT)), LIMIT)
    with pytest.raises((DataCorrupt, ValueError, IndexError)):
        unpack(codec, b"\xff\xff\xff\xff\x7f garbage", LIMIT)


def _file(codec: str, rows: int, data: bytes) -> bytes:
    header = {b"avro.codec": codec.encode(), b"avro.schema": b'{"type": "record", "name": "r", "fields": []}'}
    mark, block = bytes(16), _packed(codec, data)
    return avro._with_header(header) + mark + avro._zigzag(rows) + as_varint(2 * len(block)) + block + mark


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_is_unpacked(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro, "MOST_UNPACKED", LIMIT)
    monkeypatch.setattr(avro, "MOST_TIMES", LIMIT)
    found = avro.unpacked(_file(codec, 3, b"abc" * 1000))
    assert b"abc" * 1000 in found
    assert avro.rows_in(found) == 3
    with pytest.raises(DataCorrupt, match="unpacked"):
        avro.unpacked(_file(codec, 3, bytes(50 * LIMIT)))


def test_rows_without_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="rows according to itself"):
        avro.rows_in(_file("deflate", 10**12, b"a"))


@pytest.mark.parametrize("sql", ["SELECT count(*) FROM t", "INSERT INTO t VALUES (2)", "SELECT sum(a) FROM t"])
def test_a_manifest_list_that_unpacks_to_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    with an_engine(tmp_path / "lake") as engine:
        do(engine.session(), "CREATE TABLE t AS SELECT 1 AS a")
    (path,) = (tmp_path / "lake").rglob("snap-*.avro")
    content = path.read_bytes()
    header, end = avro._whole_header(content)
    mark, block = content[end : end + 16], _packed("deflate", bytes(4 * LIMIT))
    header[b"avro.codec"] = b"deflate"
    path.write_bytes(avro._with_header(header) + mark + b"\x02" + as_varint(2 * len(block)) + block + mark)
    monkeypatch.setattr(avro, "MOST_UNPACKED", LIMIT)
    monkeypatch.setattr(checked_avro, "MOST_UNPACKED", LIMIT)
    monkeypatch.setattr(unpack, "__defaults__", (LIMIT,))
    with an_engine(tmp_path / "lake") as engine, pytest.raises(PinakesError) as error:
        rows(engine.session(), sql)
    assert error.value.code == "DATA_CORRUPT", error.value
