"""Parquet files whose page headers lie: DataFusion allocated what they say (up to 16 GB), which ends the process.

The statements run in a process of its own, whose address space is limited.
"""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinakes.core.parquet_footer import footer_bytes, parse_struct
from pinakes.core.parquet_pages import is_native
from pinakes.core.varint import as_varint
from tests.security.test_function_results_are_bounded import run
from tests.security.test_parquet_footers import with_footer

ROWS = 90
TABLE = pa.table({"a": pa.array([i % 7 for i in range(ROWS)], pa.int64()), "s": [f"x{i % 9}" for i in range(ROWS)]})


def a_file(**options: object) -> bytes:
    written = io.BytesIO()
    pq.write_table(TABLE, written, **{"compression": "none", "write_statistics": False, **options})  # type: ignore[arg-type]
    return written.getvalue()


def _zigzag(number: int) -> bytes:
    return as_varint(number << 1)


def _of_same_length(content: bytes, at: int, old: bytes, new: bytes) -> bytes:
    """The file with other bytes at an offset, where the following bytes are overwritten: offsets stay."""
    assert content[at : at + len(old)] == old
    return content[:at] + new + content[at + len(new) :]


def _fields(content: bytes, column: int) -> tuple[int, dict[int, object]]:
    """The offset of the first page of a column, and the fields of its header."""
    chunk = pq.read_metadata(io.BytesIO(content)).row_group(0).column(column)
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    return at, parse_struct(content[at:])[0]


def with_header(content: bytes, column: int, old: bytes, new: bytes) -> bytes:
    """The file with a longer header of the first page of a column, whose content is shorter then."""
    at, _ = _fields(content, column)
    _, length = parse_struct(content[at:])
    header = content[at : at + length]
    assert header.count(old) == 1
    changed = header.replace(old, new)
    return content[:at] + changed + content[at + len(changed) :]


def hostile() -> dict[str, bytes]:
    plain, zstd = a_file(), a_file(compression="zstd")
    found = dict[str, bytes]()
    for column, name in enumerate(("numbers", "texts")):
        _, header = _fields(plain, column)
        values = header[7][1]  # type: ignore[index]
        old, new = b"\x4c\x15" + _zigzag(values), b"\x4c\x15" + _zigzag((1 << 31) - 1)
        found[f"a dictionary of 2,147,483,647 {name}"] = with_header(plain, column, old, new)
        _, header = _fields(zstd, column)
        size = b"\x15" + _zigzag(header[2])  # type: ignore[operator]
        packed = b"\x15" + _zigzag(header[3])  # type: ignore[operator]
        found[f"2 GB of {name}"] = with_header(zstd, column, size + packed, b"\x15" + _zigzag((1 << 31) - 1) + packed)
    return found


def lengths_that_lie(encoding: str) -> bytes:
    """Texts whose lengths are counted within the page: 90 of them, which it says are 2,147,483,647."""
    content = a_file(use_dictionary=False, column_encoding={"s": encoding, "a": "PLAIN"})
    head = b"\x80\x01\x04"  # blocks of 128 values, of 4 parts
    at = content.index(head + b"\x5a")
    return _of_same_length(content, at, head + b"\x5a", head + as_varint((1 << 31) - 1))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "snappy", "write_page_index": True, "data_page_size": 100},
        {"data_page_version": "2.0", "compression": "zstd"},
        {"use_dictionary": False, "version": "1.0"},
        {"column_encoding": {"a": "DELTA_BINARY_PACKED", "s": "PLAIN"}, "use_dictionary": False},
        {"write_statistics": True, "row_group_size": 7},
    ],
)
def test_files_of_several_forms_are_native(options: dict[str, object]) -> None:
    assert is_native(io.BytesIO(a_file(**options)))


@pytest.mark.parametrize("what", list(hostile()))
def test_a_header_that_lies_is_refused(what: str) -> None:
    with pytest.raises(ValueError, match=r"values|unpacked|longer|malformed"):
        is_native(io.BytesIO(hostile()[what]))


@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
def test_texts_with_lengths_in_the_page_are_read_by_arrow(encoding: str) -> None:
    assert not is_native(io.BytesIO(lengths_that_lie(encoding)))


def test_the_offset_index_must_refer_to_pages() -> None:
    content = a_file(write_page_index=True)
    footer = parse_struct(footer_bytes(io.BytesIO(content), len(content)))[0]
    at = footer[4][0][1][0][4]
    located = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0).data_page_offset
    index = content[at : at + footer[4][0][1][0][5]]
    assert index.count(_zigzag(located)) == 1
    other = index.replace(_zigzag(located), _zigzag(located + 1))
    assert is_native(io.BytesIO(content))
    assert not is_native(io.BytesIO(content[:at] + other + content[at + len(other) :]))


def test_a_footer_is_checked_too() -> None:
    content = a_file()
    size = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0).total_compressed_size
    footer = footer_bytes(io.BytesIO(content), len(content))
    old = b"\x16" + _zigzag(size) + b"\x26"
    assert footer.count(old) == 1
    with pytest.raises(ValueError, match="outside"):
        is_native(io.BytesIO(with_footer(content, old, b"\x16" + _zigzag(1 << 62) + b"\x26")))


@pytest.mark.slow
def test_hostile_files_do_not_end_a_server(tmp_path: Path) -> None:
    statements: list[object] = []
    files = [*hostile().values(), lengths_that_lie("DELTA_LENGTH_BYTE_ARRAY"), lengths_that_lie("DELTA_BYTE_ARRAY")]
    for number, content in enumerate(files):
        path = tmp_path / f"{number}.parquet"
        path.write_bytes(content)
        statements.append(f"SELECT * FROM '{path}'")
    good = tmp_path / "good.parquet"
    good.write_bytes(a_file(use_dictionary=False, column_encoding={"s": "DELTA_BYTE_ARRAY", "a": "PLAIN"}))
    found = run([*statements, f"SELECT * FROM '{good}'"], 60)
    codes = [answer.get("code", answer.get("rows")) for answer in found]
    assert codes[-1] == ROWS
    assert set(codes[:-1]) <= {"DATA_CORRUPT", "OUT_OF_MEMORY"}, found


@pytest.mark.slow
def test_files_of_an_iceberg_table_do_not_end_a_server(tmp_path: Path) -> None:
    """The files are replaced, as a catalog whose metadata anyone can write refers to any file."""
    statements: list[object] = [f"ATTACH '{tmp_path}' AS other (TYPE sqlite)", "CREATE SCHEMA IF NOT EXISTS other.s"]
    statements += [
        f"CREATE TABLE other.s.t{number} AS SELECT value AS a, CAST(value AS VARCHAR) AS s FROM range(90)"
        for number in range(2)
    ]
    assert {answer.get("code") for answer in run(statements, 60)} == {None}
    files = sorted(tmp_path.rglob("*.parquet"))
    assert len(files) == 2
    for file, content in zip(files, list(hostile().values())[:2], strict=True):
        end = len(content) - 8 - len(footer_bytes(io.BytesIO(content), len(content)))
        file.write_bytes(content[:end] + bytes(10_000) + content[end:])  # as long as the metadata says
    reads: list[object] = [f"SELECT * FROM other.s.t{number}" for number in range(2)]
    found = run([statements[0], *reads, "SELECT 1"], 60)
    assert [answer.get("code", answer.get("rows")) for answer in found[1:]] == ["DATA_CORRUPT", "DATA_CORRUPT", 1], (
        found
    )
    assert all("values" in str(answer["message"]) or "unpacked" in str(answer["message"]) for answer in found[1:3]), (
        found
    )
