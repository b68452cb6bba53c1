"""The writer as a whole: every row once, in bounded parts, and nothing left behind when it fails."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg import types as ice
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform

from pinakes.core.errors import CommitUnknown, ConstraintViolation, InternalError, TypeMismatch
from pinakes.core.types.iceberg_arrow import arrow_schema_of
from pinakes.engine.iceberg.write import files as module
from pinakes.engine.iceberg.write import sorting
from pinakes.engine.iceberg.write.files import FileWriter
from pinakes.engine.iceberg.write.parquet import fanout
from tests.engine.write.support import footer, metadata_of, parquet_files, rows_of, schema_of, written

SCHEMA = schema_of(ice.LongType(), ice.StringType())
BY_C1 = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "c1"))


def made(rows: int, partitions: int, size: int = 64) -> Iterator[pa.RecordBatch]:
    """Rows of some partitions, in turns."""
    table = pa.table({"c1": [i % partitions for i in range(rows)], "c2": [f"{i:06}" for i in range(rows)]})
    yield from table.to_batches(max_chunksize=size)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so low that few rows are many."""
    monkeypatch.setattr(fanout, "BUDGET", 20_000)
    monkeypatch.setattr(fanout, "WORTHWHILE", 1000)
    monkeypatch.setattr(module, "WORTHWHILE", 0)
    monkeypatch.setattr(module, "ENCODERS", 3)
    monkeypatch.setattr(sorting, "IN_MEMORY", 5000)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("partitions", [1, 7, 150])
@pytest.mark.parametrize("limit", ["10", "300", "100000"])
def test_every_row_is_in_the_file_of_its_partition_once(tmp_path: Path, partitions: int, limit: str) -> None:
    metadata = metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": limit}, BY_C1)
    files = written(metadata, made(3000, partitions))
    for file in files:
        assert {row[0] for row in rows_of([file])} == {file.partition[0]}
    assert Counter(rows_of(files)) == Counter((i % partitions, f"{i:06}") for i in range(3000))
    assert {f.partition[0] for f in files} == set(range(partitions))


@pytest.mark.usefixtures("tiny")
def test_more_partitions_than_fit_are_one_file_each_but_for_those_begun(tmp_path: Path) -> None:
    metadata = metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": "500"}, BY_C1)
    assert len(written(metadata, made(5000, 400))) == 400


@pytest.mark.usefixtures("tiny")
def test_encoder_threads_write_every_row_once(tmp_path: Path) -> None:
    metadata = metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": "50"})
    files = written(metadata, made(5000, 9))
    assert 1 < len(files) <= 3
    assert Counter(rows_of(files)) == Counter((i % 9, f"{i:06}") for i in range(5000))


@pytest.mark.usefixtures("tiny")
def test_rows_in_order_stay_so(tmp_path: Path) -> None:
    metadata = metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": "50"})
    files = written(metadata, made(5000, 9), ordered=True)
    assert rows_of(files) == [(i % 9, f"{i:06}") for i in range(5000)]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("rows", [10, 3000])
def test_a_sort_order_holds_over_all_files(tmp_path: Path, rows: int) -> None:
    order = SortOrder(SortField(1, IdentityTransform()), SortField(2, IdentityTransform()))
    properties = {"write.parquet.row-group-limit": "100", "write.target-file-size-bytes": "6000"}
    files = written(metadata_of(tmp_path, SCHEMA, properties, order=order), made(rows, 13))
    found = rows_of(files)
    assert found == sorted(found)
    assert len(found) == rows
    assert {f.sort_order_id for f in files} == {1}
    assert (len(files) > 1) == (rows == 3000)


@pytest.mark.usefixtures("tiny")
def test_a_sort_order_holds_within_partitions(tmp_path: Path) -> None:
    order = SortOrder(SortField(2, BucketTransform(4)), SortField(2, IdentityTransform()))
    spec = PartitionSpec(PartitionField(2, 1000, TruncateTransform(5), "t"))
    metadata = metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": "100"}, spec, order)
    files = written(metadata, made(3000, 7))
    bucket = BucketTransform(4).transform(ice.StringType())
    for file in files:
        found = [(bucket(text), text) for _, text in rows_of([file])]
        assert found == sorted(found)
    assert sum(f.record_count for f in files) == 3000
    assert len(files) == 300


def test_nan_null_and_zero_are_partitions_of_their_own(tmp_path: Path) -> None:
    schema = schema_of(ice.DoubleType())
    values = [float("nan"), None, 0.0, -0.0, float("nan"), 1.0, None]
    batch = pa.RecordBatch.from_arrays([pa.array(values, pa.float64())], ["c1"])
    files = written(metadata_of(tmp_path, schema, spec=BY_C1), [batch])
    counts = {str(f.partition[0]): f.record_count for f in files}
    assert counts == {"nan": 2, "None": 2, "0.0": 1, "-0.0": 1, "1.0": 1}


def test_partition_sources_within_structs_and_uuids(tmp_path: Path) -> None:
    inner = ice.StructType(ice.NestedField(3, "a.b", ice.StringType()), ice.NestedField(4, "u", ice.UUIDType()))
    schema = Schema(ice.NestedField(1, "s", inner))
    metadata = metadata_of(tmp_path, schema)
    ids = [metadata.schema().find_field(name).field_id for name in ("s.a.b", "s.u")]
    fields = [PartitionField(i, 1000 + n, IdentityTransform(), f"p{n}") for n, i in enumerate(ids)]
    spec = PartitionSpec(*fields, spec_id=1)
    metadata = metadata.model_copy(update={"partition_specs": [spec], "default_spec_id": 1})
    one, other = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2))
    rows = [{"a.b": "x", "u": one}, {"a.b": "y", "u": one}, {"a.b": "x", "u": other}, {"a.b": "x", "u": one}, None]
    batch = pa.RecordBatch.from_arrays([pa.array(rows)], ["s"])
    files = written(metadata, [batch])
    assert sorted((str(f.partition[0]), f.record_count) for f in files) == [("None", 1), ("x", 1), ("x", 2), ("y", 1)]


# --- failures ----------------------------------------------------------------------------------------------------


class Boom(Exception):
    pass


def failing(rows: int, after: int) -> Iterator[pa.RecordBatch]:
    for number, batch in enumerate(made(rows, 5)):
        if number == after:
            raise Boom
        yield batch


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("after", [0, 1, 20])
@pytest.mark.parametrize("spec", [UNPARTITIONED_PARTITION_SPEC, BY_C1])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_rows_that_stop_coming_leave_nothing(tmp_path: Path, after: int, spec: PartitionSpec, is_sorted: bool) -> None:
    order = SortOrder(SortField(2, IdentityTransform())) if is_sorted else UNSORTED_SORT_ORDER
    metadata = metadata_of(tmp_path, SCHEMA, {"write.parquet.row-group-limit": "50"}, spec, order)
    with pytest.raises(Boom), FileWriter(metadata, PyArrowFileIO()) as writer:
        writer.write_all(failing(2000, after))
    assert not parquet_files(tmp_path)
    assert not [t for t in threading.enumerate() if t.name.startswith("pinakes-write")]


class FullDisk(PyArrowFileIO):
    """The n-th file can not be made."""

    def __init__(self, nth: int) -> None:
        super().__init__()
        self.nth = nth

    def new_output(self, location: str) -> Any:
        self.nth -= 1
        if self.nth == 0:
            raise OSError(28, "No space left on device")
        return super().new_output(location)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("nth", [1, 2, 4])
def test_a_disk_that_is_full_stops_the_encoder_threads(tmp_path: Path, nth: int) -> None:
    properties = {"write.parquet.row-group-limit": "50", "write.target-file-size-bytes": "1000"}
    metadata = metadata_of(tmp_path, SCHEMA, properties)
    with pytest.raises(OSError, match="No space"), FileWriter(metadata, FullDisk(nth)) as writer:
        writer.write_all(made(5000, 5))
    assert not parquet_files(tmp_path)
    assert not [t for t in threading.enumerate() if t.name.startswith("pinakes-write")]


def test_files_of_a_commit_without_an_answer_stay(tmp_path: Path) -> None:
    def write() -> None:
        with FileWriter(metadata_of(tmp_path, SCHEMA), PyArrowFileIO()) as writer:
            writer.write_all(made(10, 2))
            raise CommitUnknown("who knows")

    with pytest.raises(CommitUnknown):
        write()
    assert len(parquet_files(tmp_path)) == 1


def test_files_that_no_commit_kept_are_removed(tmp_path: Path) -> None:
    with FileWriter(metadata_of(tmp_path, SCHEMA), PyArrowFileIO()) as writer:
        writer.write_all(made(10, 2))
        assert len(parquet_files(tmp_path)) == 1
    assert not parquet_files(tmp_path)


def test_no_row_makes_no_file(tmp_path: Path) -> None:
    order = SortOrder(SortField(2, IdentityTransform()))
    for metadata in (metadata_of(tmp_path, SCHEMA, spec=BY_C1), metadata_of(tmp_path, SCHEMA, order=order)):
        assert written(metadata, []) == []
    assert not parquet_files(tmp_path)


def test_a_row_that_is_lost_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "row_groups", lambda batches, *_: iter([pa.Table.from_batches(batches).slice(1)]))
    with pytest.raises(InternalError, match="2 rows were to be written, and the new files have 1"):
        written(metadata_of(tmp_path, SCHEMA), made(2, 1))
    assert not parquet_files(tmp_path)


def test_errors_name_row_and_column(tmp_path: Path) -> None:
    schema = Schema(ice.NestedField(1, "n", ice.IntegerType(), required=True))
    metadata = metadata_of(tmp_path, schema)
    good, null, large = ([*range(10)], [1, 2, None], [1, 2, 3, 2**40])

    def rows(*columns: Sequence[int | None]) -> list[pa.RecordBatch]:
        return [pa.RecordBatch.from_arrays([pa.array(c, pa.int64())], ["n"]) for c in columns]

    with pytest.raises(ConstraintViolation, match="column 'n' is NOT NULL, and row 13 has NULL in it"):
        written(metadata, rows(good, null))
    with pytest.raises(TypeMismatch, match=r"column 'n' is integer, .* in row 14"):
        written(metadata, rows(good, large))


def test_columns_of_unknown_type_are_not_stored(tmp_path: Path) -> None:
    schema = Schema(ice.NestedField(1, "a", ice.LongType()), ice.NestedField(2, "z", ice.UnknownType()))
    metadata = metadata_of(tmp_path, schema, {"format-version": "3"})
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2]), pa.nulls(2)], ["a", "z"])
    (file,) = written(metadata, [batch])
    assert [footer(file).schema.column(i).path for i in range(footer(file).num_columns)] == ["a"]


def test_an_order_of_floats_has_nan_last(tmp_path: Path) -> None:
    schema = schema_of(ice.DoubleType())
    order = SortOrder(SortField(1, IdentityTransform()))
    values = [2.0, float("nan"), None, float("inf"), -1.0]
    batch = pa.RecordBatch.from_arrays([pa.array(values, pa.float64())], arrow_schema_of(schema).names)
    found = [row[0] for row in rows_of(written(metadata_of(tmp_path, schema, order=order), [batch]))]
    assert found[:4] == [None, -1.0, 2.0, float("inf")]
    assert math.isnan(float(str(found[4])))
