"""Lengths in Avro files do not lead out of the file: pyiceberg's decoder read on in the memory of the process.

An INSERT into a table whose manifest list has such a length wrote what was found there to the new manifest list, in a
store of the attacker's, or ended the server.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pinakes.core.errors import DataCorrupt, PinakesError
from pinakes.providers.iceberg.checked_avro import CheckedDecoder
from tests.engine.support import an_engine, do, rows

LONG, HUGE, NEGATIVE = b"\xd0\x0f", b"\xff" * 8 + b"\x7f", b"\x01"
"""Lengths as Avro writes them: 1000, more than there can be, and -1."""


@pytest.mark.parametrize("length", [LONG, HUGE, NEGATIVE])
@pytest.mark.parametrize("read", [CheckedDecoder.read_bytes, CheckedDecoder.read_utf8, CheckedDecoder.skip_bytes,
                                  CheckedDecoder.skip_utf8, lambda d: d.read_int_bytes_dict(1, {})])  # fmt: skip
def test_a_length_beyond_the_end(read: Callable[[CheckedDecoder], object], length: bytes) -> None:
    with pytest.raises((DataCorrupt, EOFError)):
        read(CheckedDecoder(b"\x02" + length + b"xy" if "lambda" in read.__name__ else length + b"xy"))


@pytest.mark.parametrize("name", ["boolean", "int", "float", "double", "bytes", "utf8"])
def test_nothing_is_read_after_the_end(name: str) -> None:
    for how in ("read", "skip"):
        decoder = CheckedDecoder(b"abc")
        decoder.skip(3)
        with pytest.raises((DataCorrupt, EOFError)):
            getattr(decoder, f"{how}_{name}")()
    for count in (4, -1, 1 << 60):
        with pytest.raises((DataCorrupt, EOFError)):
            CheckedDecoder(b"abc").read(count)
        with pytest.raises((DataCorrupt, EOFError)):
            CheckedDecoder(b"abc").skip(count)
        with pytest.raises((DataCorrupt, EOFError)):
            CheckedDecoder(b"abc").read_ints(count)
        with pytest.raises((DataCorrupt, EOFError)):
            CheckedDecoder(b"abc").read_int_bytes_dict(count, {})


def test_what_is_there_is_read() -> None:
    decoder = CheckedDecoder(b"\x06abc\x04\xc3\xa9\x01\x02\x02\x02\x02x")
    assert (decoder.read_bytes(), decoder.read_utf8(), decoder.read_boolean()) == (b"abc", "é", True)
    assert decoder.read_ints(2) == (1, 1)
    found: dict[int, bytes] = {}
    decoder.read_int_bytes_dict(1, found)
    assert found == {1: b"x"}


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (2)",
        "DELETE FROM t",
        "CALL system.rewrite_manifests('t')",
        "CALL system.remove_orphan_files('t')",
        "DROP TABLE t PURGE",
        "SELECT * FROM t",
    ],
)
def test_a_manifest_list_with_such_a_length(sql: str, tmp_path: Path) -> None:
    with an_engine(tmp_path) as engine:
        do(engine.session(), "CREATE TABLE t WITH ('write.avro.compression-codec' = 'null') AS SELECT 1 AS a")
    (file,) = tmp_path.rglob("snap-*.avro")
    (manifest,) = (path for path in file.parent.glob("*.avro") if path != file)
    content, path = file.read_bytes(), str(manifest).encode()
    at = content.index(path) - 2  # the length takes two bytes
    assert (content[at] & 0x80, content[at + 1] & 0x80) == (0x80, 0)
    file.write_bytes(content[:at] + b"\xfe\x7f" + content[at + 2 :])
    with an_engine(tmp_path) as engine, pytest.raises(PinakesError) as refused:
        rows(engine.session(), sql)
    assert refused.value.code in ("DATA_CORRUPT", "CATALOG_UNAVAILABLE")
