"""Parquet files whose footers lie: each ended the process, or allocated up to 9 EB.

The statements run in a process of its own, whose address space is limited.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.core.access.path_sandbox import Roots
from pinakes.core.location import Location
from pinakes.core.parquet_footer import check_footer, footer_bytes, read_footer
from pinakes.core.varint import as_varint, read_varint
from pinakes.engine.datafusion.avro import rows_in
from pinakes.engine.iceberg.scan.claims import Claims
from pinakes.engine.iceberg.scan.object_stores import TableStores
from pinakes.providers.iceberg.table_io import TableIO
from tests.engine.support import an_engine
from tests.security.test_function_results_are_bounded import run

ROWS = pa.table({"a": pa.array([1, 2, None] * 30, pa.int64()), "s": ["x", "yy", "zzz"] * 30})


def a_file(**options: object) -> bytes:
    written = io.BytesIO()
    pq.write_table(ROWS, written, write_page_index=True, **{"compression": "none", **options})  # type: ignore[arg-type]
    return written.getvalue()


def _zigzag(number: int) -> bytes:
    return as_varint((number << 1) ^ (number >> 63) if number >= 0 else ((-number) << 1) - 1)


def with_footer(content: bytes, old: bytes, new: bytes) -> bytes:
    """The file with other bytes in its footer."""
    footer = footer_bytes(io.BytesIO(content), len(content))
    assert footer.count(old) == 1, footer.count(old)
    changed = footer.replace(old, new)
    return content[: -8 - len(footer)] + changed + struct.pack("<I", len(changed)) + b"PAR1"


def chunk(content: bytes, column: int) -> pq.ColumnChunkMetaData:
    return pq.read_metadata(io.BytesIO(content)).row_group(0).column(column)


def hostile() -> dict[str, bytes]:
    plain = a_file()
    found = chunk(plain, 0)
    compressed = b"\x16" + _zigzag(found.total_compressed_size)  # field 7 of the column, a number of 64 bits
    offset = b"\x26" + _zigzag(found.data_page_offset)  # field 9
    index = _index_of(plain)
    lies = {
        "a chunk of 4 EB": (compressed + offset, b"\x16" + _zigzag(1 << 62) + offset),
        "a negative length": (compressed + offset, b"\x16" + _zigzag(-1) + offset),
        "pages outside of the file": (compressed + offset, compressed + b"\x26" + _zigzag(1 << 40)),
        "a page index of 2 GB": (index, index[:-2] + b"\x15" + _zigzag((1 << 31) - 1)),
    }
    return {what: with_footer(plain, *pair) for what, pair in lies.items()}


def _index_of(content: bytes) -> bytes:
    """The offset index of the first column in the footer: an offset of 64 bits (field 4), a length (field 5)."""
    footer = footer_bytes(io.BytesIO(content), len(content))
    for at in range(len(footer)):
        if footer[at] == 0x16:
            try:
                offset, end = read_varint(footer, at + 1)
            except (ValueError, IndexError):
                continue
            if footer[end : end + 1] == b"\x15" and footer[end + 1] < 0x80 and footer[end + 2] == 0x16:
                where = offset >> 1
                if 0 < where < len(content) and footer.count(footer[at : end + 2]) == 1:
                    return footer[at : end + 2]
    raise AssertionError("no page index")


def test_files_of_several_writers_pass() -> None:
    for options in ({}, {"compression": "zstd", "row_group_size": 7}, {"use_dictionary": False}, {"version": "1.0"}):
        content = a_file(**options)
        assert read_footer(io.BytesIO(content)).num_rows == 90
    empty = io.BytesIO()
    pq.write_table(ROWS.slice(0, 0), empty)
    assert read_footer(empty).num_rows == 0
    nested = io.BytesIO()
    pq.write_table(
        pa.table({"l": [[{"a": [1, None]}], None], "m": pa.array([[("k", 1)], []], pa.map_("string", "int8"))}), nested
    )
    assert read_footer(nested).num_columns == 3


@pytest.mark.parametrize("what", list(hostile()))
def test_a_footer_that_lies_is_refused(what: str) -> None:
    content = hostile()[what]
    with pytest.raises(ValueError, match="footer"):
        read_footer(io.BytesIO(content))


def test_a_statistic_and_a_histogram_must_fit_the_column() -> None:
    content = a_file()
    footer = footer_bytes(io.BytesIO(content), len(content))
    value = b"\x18\x08" + (2).to_bytes(8, "little")  # the greatest value, 8 bytes
    assert value in footer
    with pytest.raises(ValueError, match="too short"):
        check_footer(footer.replace(value, b"\x18\x04" + bytes(4)), len(content))
    histogram = b"\x26" + _zigzag(30) + _zigzag(60)  # levels of a column that may be NULL
    assert histogram in footer
    with pytest.raises(ValueError, match="histogram"):
        check_footer(footer.replace(histogram, b"\x36" + _zigzag(30) + _zigzag(60) + _zigzag(1)), len(content))


@pytest.mark.parametrize(
    "footer",
    [
        b"\x1c" * 100_000,
        b"\x19\xfc" + as_varint(1 << 62),
        b"\x18" + as_varint(1 << 40),
        b"\x16" + b"\xff" * 1_000_000,
        b"\x1b" + as_varint(1 << 62) + b"\x88",
        b"",
        b"\x00",
    ],
    ids=["depth", "list", "text", "number", "map", "empty", "nothing"],
)
def test_a_footer_is_no_bomb(footer: bytes) -> None:
    with pytest.raises(ValueError):
        check_footer(footer, 1000)


@pytest.mark.slow
def test_hostile_files_do_not_end_the_process(tmp_path: Path) -> None:
    statements: list[object] = []
    for number, content in enumerate(hostile().values()):
        path = tmp_path / f"{number}.parquet"
        path.write_bytes(content)
        statements += [f"SELECT * FROM '{path}'", f"SELECT count(a) FROM '{path}' WHERE a > 1"]
    found = run([*statements, "SELECT 1"], 60)
    assert [answer.get("code", "rows") for answer in found] == [*["DATA_CORRUPT"] * len(statements), "rows"], found


def test_an_avro_header_cannot_be_read_for_ever() -> None:
    for header in (
        _zigzag(1 << 60) + _zigzag(-1),
        _zigzag(1) + b"\xff" * 1_000_000,
    ):
        with pytest.raises(ValueError, match=r"negative|64 bits|ends within"):
            rows_in(b"Obj\x01" + header)


def test_catalogs_of_limited_users_are_read_by_arrow() -> None:
    """DataFusion trusts the number of values in the header of a dictionary page: 2,147,483,647 of them take 16 GB."""
    properties = {"s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.region": "us-east-1"}

    with an_engine() as engine:
        for reader, is_native in (("", True), ("attached by eve", False)):
            io = TableIO(properties, Roots((), reader=reader))
            stores = TableStores(engine.object_stores, Claims(), io, "s3://bucket/t")
            assert (stores.file("t", Location.parse("s3://bucket/t/a.parquet"), 1) is not None) == is_native
