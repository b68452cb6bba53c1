"""How files are laid out: by the table's properties, readable by others, and refused when a property makes no sense."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import types as ice
from pyiceberg.schema import Schema

from pinakes.core.errors import InvalidArgument, NotSupportedError, PinakesError
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from tests.engine.write.support import duck, footer, metadata_of, offsets, rows_of, schema_of, written

SCHEMA = schema_of(ice.LongType(), ice.StringType())
ROWS = 5000


def batches(rows: int = ROWS, size: int = 700) -> list[pa.RecordBatch]:
    table = pa.table({"c1": range(rows), "c2": [f"text {i % 50}" for i in range(rows)]})
    return list(table.to_batches(max_chunksize=size))


@pytest.mark.parametrize(
    ("codec", "level", "stored"),
    [
        (None, None, "LZ4"),
        ("lz4", "5", "LZ4"),
        ("zstd", "9", "ZSTD"),
        ("zstd", None, "ZSTD"),
        ("SNAPPY", "3", "SNAPPY"),
        ("gzip", "9", "GZIP"),
        ("brotli", None, "BROTLI"),
        ("uncompressed", None, "UNCOMPRESSED"),
        ("none", None, "UNCOMPRESSED"),
    ],
)
def test_codecs(tmp_path: Path, codec: str | None, level: str | None, stored: str) -> None:
    """A level that a codec has not means nothing; DuckDB reads each."""
    given = {"write.parquet.compression-codec": codec, "write.parquet.compression-level": level}
    metadata = metadata_of(tmp_path, SCHEMA, {k: v for k, v in given.items() if v is not None})
    (file,) = written(metadata, batches())
    assert footer(file).row_group(0).column(1).compression == stored
    found = duck(f"SELECT count(*), sum(c1), count(DISTINCT c2) FROM '{file.file_path}'")
    assert found == [(ROWS, ROWS * (ROWS - 1) // 2, 50)]


def test_row_groups_have_the_rows_that_are_requested(tmp_path: Path) -> None:
    (file,) = written(metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": "1000"}), batches())
    found = footer(file)
    assert [found.row_group(i).num_rows for i in range(found.num_row_groups)] == [1000] * 5
    assert rows_of([file]) == [(i, f"text {i % 50}") for i in range(ROWS)]
    assert offsets(file) == sorted(offsets(file))
    assert len(offsets(file)) == 5


def test_row_groups_are_bounded_in_bytes(tmp_path: Path) -> None:
    """Also within a batch whose rows differ; a single row may be larger."""
    texts = ["x" * 100_000 if i == 5 else "y" * 1000 for i in range(100)]
    batch = pa.RecordBatch.from_arrays([pa.array(range(100)), pa.array(texts)], ["c1", "c2"])
    (file,) = written(metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-size-bytes": "20000"}), [batch])
    found = footer(file)
    assert max(found.row_group(i).num_rows for i in range(found.num_row_groups)) <= 20
    assert [r[0] for r in rows_of([file])] == list(range(100))


def test_a_file_that_is_large_enough_is_followed_by_another(tmp_path: Path) -> None:
    properties = {"write.target-file-size-bytes": "20000", "write.parquet.compression-codec": "none"}
    files = written(metadata_of(tmp_path, SCHEMA, properties), batches())
    assert len(files) > 2
    assert all(f.file_size_in_bytes == Path(f.file_path).stat().st_size for f in files)
    assert all(20_000 <= f.file_size_in_bytes < 60_000 for f in files[:-1])
    assert rows_of(files) == [(i, f"text {i % 50}") for i in range(ROWS)]


def test_pages_and_dictionaries(tmp_path: Path) -> None:
    """What repeats has a dictionary, what does not has none; each file has a page index."""
    (file,) = written(metadata_of(tmp_path, SCHEMA), batches(size=ROWS))
    chunks = [footer(file).row_group(0).column(i) for i in range(2)]
    assert [c.has_dictionary_page for c in chunks] == [False, True]
    assert all(c.has_column_index and c.has_offset_index for c in chunks)
    small = {"write.parquet.page-row-limit": "100", "write.parquet.dict-size-bytes": "10"}
    (other,) = written(metadata_of(tmp_path, SCHEMA, small), batches(size=ROWS))
    assert other.file_size_in_bytes > file.file_size_in_bytes


def test_decimals_are_integers(tmp_path: Path) -> None:
    schema = schema_of(ice.DecimalType(9, 2), ice.DecimalType(18, 2), ice.DecimalType(19, 2))
    arrays = [pa.array([1, -2], pa.int64()).cast(pa.decimal128(38, 0)).cast(pa.decimal128(p, 2)) for p in (9, 18, 19)]
    (file,) = written(metadata_of(tmp_path, schema), [pa.RecordBatch.from_arrays(arrays, ["c1", "c2", "c3"])])
    stored = [footer(file).schema.column(i).physical_type for i in range(3)]
    assert stored == ["INT32", "INT64", "FIXED_LEN_BYTE_ARRAY"]
    assert file.lower_bounds[1] == file.lower_bounds[3] == (-200).to_bytes(2, "big", signed=True)


def test_bloom_filters_are_written_and_used(tmp_path: Path) -> None:
    key = "write.parquet.bloom-filter-enabled.column."
    properties = {f"{key}c1": "true", f"{key}c2": "false", f"{key}nope": "true"}
    (file,) = written(metadata_of(tmp_path, SCHEMA, properties), batches())
    chunks = [footer(file).row_group(0).column(i).to_dict() for i in range(2)]
    assert [c["bloom_filter_length"] is not None for c in chunks] == [True, False]
    asked = f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{file.file_path}', 'c1', {{}})"
    assert duck(asked.format(3)) == [(False,)]
    assert duck(asked.format(ROWS * 100)) == [(True,)]


def test_a_bloom_filter_is_no_larger_than_allowed(tmp_path: Path) -> None:
    key = "write.parquet.bloom-filter-"
    small = {f"{key}enabled.column.c1": "true", f"{key}max-bytes": "4096"}
    (file,) = written(metadata_of(tmp_path, SCHEMA, small), batches())
    assert footer(file).row_group(0).column(0).to_dict()["bloom_filter_length"] <= 4096 + 100


def test_field_ids_and_odd_names_are_as_other_writers_have_them(tmp_path: Path) -> None:
    inner = ice.StructType(ice.NestedField(10, "x y", ice.LongType()))
    listed = ice.ListType(11, ice.StructType(ice.NestedField(12, "1", inner)), False)
    mapped = ice.MapType(13, ice.StringType(), 14, inner, False)
    schema = Schema(
        *(ice.NestedField(n, f"a {n}", t) for n, t in enumerate((ice.LongType(), inner, listed, mapped), 1))
    )
    rows: list[list[object]] = [
        [1, 2],
        [{"x y": 3}, None],
        [[{"1": {"x y": 4}}, None], None],
        [[("k", {"x y": 5})], None],
    ]
    metadata = metadata_of(tmp_path, schema)
    arrow = arrow_schema_of(schema)
    batch = pa.RecordBatch.from_arrays([pa.array(r, t) for r, t in zip(rows, arrow.types, strict=True)], schema=arrow)
    (file,) = written(metadata, [batch.slice(0, 1), batch.slice(1)])
    found = pq.read_schema(file.file_path)
    assert found.names == [f"a_x20{n}" for n in range(1, 5)]
    assert [f.metadata[b"PARQUET:field_id"] for f in found] == [b"1", b"2", b"3", b"4"]
    stored = pq.read_table(file.file_path).to_pylist()
    assert [r["a_x202"] for r in stored] == [{"x_x20y": 3}, None]
    assert [r["a_x203"] for r in stored] == [[{"_1": {"x_x20y": 4}}, None], None]
    assert [r["a_x204"] for r in stored] == [[("k", {"x_x20y": 5})], None]
    assert file.lower_bounds[5] == (3).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("write.parquet.compression-codec", "lzo", InvalidArgument),
        ("write.parquet.row-group-limit", "0", InvalidArgument),
        ("write.parquet.page-size-bytes", "many", InvalidArgument),
        ("write.target-file-size-bytes", "-5", InvalidArgument),
        ("write.metadata.metrics.default", "truncate(0)", InvalidArgument),
        ("write.metadata.metrics.column.c1", "some", InvalidArgument),
        ("write.metadata.metrics.max-inferred-column-defaults", "x", InvalidArgument),
        ("write.format.default", "orc", NotSupportedError),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(tmp_path: Path, key: str, value: str, kind: type[PinakesError]) -> None:
    with pytest.raises(kind, match=key.replace(".", r"\.")):
        written(metadata_of(tmp_path, SCHEMA, {key: value}), batches())
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_level_out_of_range_is_refused(tmp_path: Path) -> None:
    key = "write.parquet.compression-"
    with pytest.raises(InvalidArgument, match="from 1 to 9"):
        written(metadata_of(tmp_path, SCHEMA, {f"{key}codec": "gzip", f"{key}level": "99"}), batches())
