"""Tables of Iceberg format version 3: row ids, upgrades, defaults; and that others can read what is written."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from datafusion import SessionContext
from pyiceberg import manifest
from pyiceberg import types as ice
from pyiceberg.avro.file import AvroFile
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import ManifestEntryStatus
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.update import UpgradeFormatVersionUpdate
from pyiceberg.transforms import DayTransform, IdentityTransform
from pyiceberg.types import IcebergType, NestedField

from pinakes.core.catalog import TableSpec
from pinakes.providers.iceberg.v3 import install
from pinakes.providers.iceberg.v3.records import DataFileV3, ManifestFileV3
from pinakes.providers.sqlite import SqliteCatalog
from tests.providers.catalog_suite import SCHEMA, rows

V3 = {"format-version": "3"}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[SqliteCatalog]:
    catalog = SqliteCatalog.open("lake", str(tmp_path), {})
    catalog.create_namespace(("s",), {})
    yield catalog
    catalog.close()


def make(
    lake: SqliteCatalog, schema: Schema = SCHEMA, spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC, **properties: str
) -> Table:
    handle = lake.create_table(("s",), "t", TableSpec(schema, spec, {**V3, **properties})).handle
    assert isinstance(handle, Table)
    return handle


def stored(table: Table) -> dict[str, Any]:
    """The table's metadata file as it is."""
    found: dict[str, Any] = json.loads(Path(table.metadata_location).read_text())
    return found


def lineage(table: Table) -> tuple[int, list[tuple[int | None, int | None]]]:
    """next-row-id, and first-row-id and added-rows of each snapshot, from the metadata file."""
    found = stored(table)
    snapshots = sorted(found.get("snapshots", []), key=lambda s: s["sequence-number"])
    return found["next-row-id"], [(s.get("first-row-id"), s.get("added-rows")) for s in snapshots]


def manifests(table: Table) -> list[ManifestFileV3]:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    found = snapshot.manifests(table.io)
    assert all(isinstance(m, ManifestFileV3) for m in found)
    return found  # type: ignore[return-value]


def first_ids(table: Table) -> dict[str, int | None]:
    """The first row id of each live data file, with what it inherits; the file is named by its smallest id."""
    files = [e.data_file for m in manifests(table) for e in m.fetch_manifest_entry(table.io)]
    assert all(isinstance(f, DataFileV3) for f in files)
    return {str(from_bytes(ice.LongType(), f.lower_bounds[1])): f.first_row_id for f in files}  # type: ignore[attr-defined]


def avro(path: str) -> tuple[dict[str, Any], list[Any]]:
    """The header of an Avro file, and its records under its own schema."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    with AvroFile[Any](PyArrowFileIO().new_input(path)) as reader:
        return dict(reader.header.meta), list(reader)


def ids(table: Table) -> list[int]:
    found: list[int] = sorted(table.scan().to_arrow()["id"].to_pylist())
    return found


# --- row ids -----------------------------------------------------------------------------------------------------


def test_a_new_table_starts_at_row_id_0(lake: SqliteCatalog) -> None:
    found = stored(make(lake))
    assert (found["format-version"], found["next-row-id"]) == (3, 0)
    assert "format-version" not in found["properties"]


def test_appends_get_ids_in_order_and_older_manifests_keep_theirs(lake: SqliteCatalog) -> None:
    table = make(lake)
    for batch in (rows(1, 2, 3), rows(4, 5), rows(6)):
        table.append(batch)
    assert lineage(table) == (6, [(0, 3), (3, 2), (5, 1)])
    assert sorted((m.first_row_id or 0) for m in manifests(table)) == [0, 3, 5]
    assert first_ids(table) == {"1": 0, "4": 3, "6": 5}
    assert ids(lake.load_table(("s",), "t").handle) == [1, 2, 3, 4, 5, 6]


def test_several_files_of_one_manifest_inherit_one_after_the_other(lake: SqliteCatalog) -> None:
    table = make(lake, spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "word")))
    table.append(rows(1, 2, 3))
    assert sorted(v or 0 for v in first_ids(table).values()) == [0, 1, 2]
    _, entries = avro(manifests(table)[0].manifest_path)
    assert [e[4][16] for e in entries] == [None, None, None], "what is added is stored without an id"


def test_files_that_move_to_another_manifest_take_their_ids_along(lake: SqliteCatalog) -> None:
    table = make(lake, spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "word")))
    table.append(rows(1, 2, 3))
    before = first_ids(table)
    table.delete("id = 2")
    assert first_ids(table) == {k: v for k, v in before.items() if k != "2"}
    by_status = {e[0]: e for m in manifests(table) for e in avro(m.manifest_path)[1]}
    assert by_status[ManifestEntryStatus.DELETED.value][4][16] == before["2"]
    assert by_status[ManifestEntryStatus.EXISTING.value][4][16] in (before["1"], before["3"])
    # Two rows moved into a new manifest: room is left for them, as the format recommends.
    assert lineage(table) == (5, [(0, 3), (3, 2)])


def test_rewritten_rows_get_ids_that_were_never_used(lake: SqliteCatalog) -> None:
    table = make(lake)
    table.append(rows(1, 2))
    table.overwrite(rows(7, 8, 9))
    assert ids(table) == [7, 8, 9]
    # pyiceberg makes two snapshots of it: one that deletes, one that appends.
    assert lineage(table) == (5, [(0, 2), (2, 0), (2, 3)])
    assert first_ids(table) == {"7": 2}


def test_merged_manifests_keep_the_ids_of_their_files(lake: SqliteCatalog) -> None:
    table = make(lake, **{"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"})
    for batch in (rows(1, 2), rows(3), rows(4)):
        table.append(batch)
    assert len(manifests(table)) == 1
    found = first_ids(table)
    assert (found["1"], found["3"]) == (0, 2)
    taken = [found["1"], found["3"], found["4"]]
    assert len(set(taken)) == 3
    assert lineage(table)[0] > max(v or 0 for v in taken)


def test_two_snapshots_of_one_transaction(lake: SqliteCatalog) -> None:
    table = make(lake)
    with table.transaction() as transaction:
        transaction.append(rows(1, 2))
        transaction.append(rows(3))
    assert lineage(table) == (3, [(0, 2), (2, 1)])
    assert first_ids(table) == {"1": 0, "3": 2}


def test_a_commit_that_is_made_again_takes_the_ids_that_are_free_by_then(lake: SqliteCatalog) -> None:
    table = make(lake, **{"commit.retry.min-wait-ms": "1"})
    stale = lake.load_table(("s",), "t").handle
    table.append(rows(1, 2))
    stale.append(rows(3))
    assert lineage(stale) == (3, [(0, 2), (2, 1)])
    assert first_ids(stale) == {"1": 0, "3": 2}


def test_another_branch_takes_ids_too(lake: SqliteCatalog) -> None:
    """main did not move, so only the row ids tell that the commit builds on an old state."""
    table = make(lake, **{"commit.retry.min-wait-ms": "1"})
    table.append(rows(1))
    stale = lake.load_table(("s",), "t").handle
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "other").commit()  # type: ignore[union-attr]
    table.append(rows(2, 3), branch="other")
    stale.append(rows(4))
    assert lineage(stale) == (4, [(0, 1), (1, 2), (3, 1)])
    assert first_ids(stale) == {"1": 0, "4": 3}


def test_a_table_that_is_created_with_its_rows(lake: SqliteCatalog) -> None:
    spec = TableSpec(SCHEMA, UNPARTITIONED_PARTITION_SPEC, V3)
    with lake.begin_create_table(("s",), "t", spec) as transaction:
        transaction.append(rows(1, 2))
    table = lake.load_table(("s",), "t").handle
    assert lineage(table) == (2, [(0, 2)])
    assert ids(table) == [1, 2]


# --- upgrade -----------------------------------------------------------------------------------------------------


def upgrade(table: Table) -> None:
    with table.transaction() as transaction:
        transaction.upgrade_table_version(3)


@pytest.mark.parametrize("version", ["1", "2"])
def test_rows_from_before_an_upgrade_get_ids_with_the_next_snapshot(lake: SqliteCatalog, version: str) -> None:
    table = make(lake, **{"format-version": version})
    table.append(rows(1, 2))
    table.append(rows(3))
    assert ids(table) == [1, 2, 3]  # and pyiceberg caches its manifests, which have no row ids
    upgrade(table)
    assert lineage(table) == (0, [(None, None), (None, None)])
    assert ids(table) == [1, 2, 3]
    table.append(rows(4))
    assert lineage(table) == (4, [(None, None), (None, None), (0, 4)])
    after = first_ids(table)
    assert after["4"] == 0, "the new manifest comes first"
    assert {after["1"], after["3"]} in ({1, 3}, {1, 2})
    table.append(rows(5))
    assert lineage(table)[0] == 5
    assert first_ids(table) == {**after, "5": 4}, "what was given stays"


def test_files_of_an_upgraded_table_that_move(lake: SqliteCatalog) -> None:
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "word"))
    table = make(lake, spec=spec, **{"format-version": "2"})
    table.append(rows(1, 2, 3))
    upgrade(table)
    table.delete("id = 2")
    assert ids(table) == [1, 3]
    assert sorted(v or 0 for v in first_ids(table).values()) == [0, 1]
    assert lineage(table) == (2, [(None, None), (0, 2)])


def test_no_way_back(lake: SqliteCatalog) -> None:
    table = make(lake)
    with pytest.raises(ValueError, match="can't go back"), table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    with pytest.raises(ValueError, match="can't go back"), table.transaction() as transaction:
        transaction._apply((UpgradeFormatVersionUpdate.model_validate({"format-version": 2}),))


def test_a_partition_field_that_comes_back_has_its_old_id(lake: SqliteCatalog) -> None:
    table = make(lake, spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "word")))
    with table.update_spec() as update:
        update.remove_field("word")
    with table.update_spec() as update:
        update.add_field("word", IdentityTransform(), "word")
    assert [f.field_id for f in table.spec().fields] == [1000]


def test_what_else_reads_manifests(lake: SqliteCatalog) -> None:
    table = make(lake)
    table.append(rows(1, 2))
    table.delete("id = 1")
    assert table.inspect.files()["record_count"].to_pylist() == [1]
    assert len(table.inspect.entries()) == 2
    assert len(table.inspect.manifests()) == 2
    directory = Path(table.location())
    lake.drop_table(("s",), "t", purge=True)
    assert [p for p in directory.rglob("*") if p.is_file()] == []


def test_the_snapshots_of_another_branch_take_sequence_numbers_too(lake: SqliteCatalog) -> None:
    """It only removes a file, so no row id tells that the commit builds on an old state."""
    table = make(lake, **{"commit.retry.min-wait-ms": "1"})
    table.append(rows(1))
    stale = lake.load_table(("s",), "t").handle
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "other").commit()  # type: ignore[union-attr]
    table.delete("id = 1", branch="other")
    stale.append(rows(2))
    assert [s["sequence-number"] for s in stored(stale)["snapshots"]] == [1, 2, 3]


# --- the files, as others read them --------------------------------------------------------------------------------

_DATA_FILE_IDS = [134, 100, 101, 102, 103, 104, 108, 109, 110, 137, 125, 128, 131, 132, 135, 140, 142, 143, 144, 145]
_MANIFEST_IDS = [500, 501, 502, 517, 515, 516, 503, 504, 505, 506, 512, 513, 514, 507, 519, 520]


def test_the_manifest_list_is_as_the_format_says(lake: SqliteCatalog) -> None:
    table = make(lake)
    table.append(rows(1, 2))
    table.append(rows(3))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    header, records = avro(snapshot.manifest_list)
    assert {k: header[k] for k in ("format-version", "first-row-id", "sequence-number", "snapshot-id")} == {
        "format-version": "3",
        "first-row-id": "2",
        "sequence-number": "2",
        "snapshot-id": str(snapshot.snapshot_id),
    }
    assert [f["field-id"] for f in json.loads(header["avro.schema"])["fields"]] == _MANIFEST_IDS
    assert sorted((r[4], r[15], r[10]) for r in records) == [(1, 0, 2), (2, 2, 1)]  # sequence number, id, added rows


def test_a_manifest_is_as_the_format_says(lake: SqliteCatalog) -> None:
    table = make(lake)
    table.append(rows(1, 2))
    header, records = avro(manifests(table)[0].manifest_path)
    assert (header["format-version"], header["content"], header["partition-spec-id"]) == ("3", "data", "0")
    fields = {f["name"]: f for f in json.loads(header["avro.schema"])["fields"]}
    assert [f["field-id"] for f in fields["data_file"]["type"]["fields"]] == _DATA_FILE_IDS
    (entry,) = records
    assert (entry[0], entry[2], entry[3]) == (ManifestEntryStatus.ADDED.value, None, None)
    assert [entry[4][i] for i in range(16, 20)] == [None] * 4


def test_another_avro_reader_agrees(lake: SqliteCatalog) -> None:
    table = make(lake)
    table.append(rows(1, 2))
    table.append(rows(3))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    frame = SessionContext().read_avro(snapshot.manifest_list)
    found = frame.select("first_row_id", "added_rows_count", "sequence_number").to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [(0, 2, 1), (2, 1, 2)]


def test_a_fresh_pyiceberg_reads_it(lake: SqliteCatalog) -> None:
    """Another process, in which nothing of pyiceberg is changed."""
    schema = Schema(*SCHEMA.fields, NestedField(3, "n", ice.IntegerType(), required=False))
    table = make(lake, schema)
    table.append(rows(1, 2).append_column("n", pa.array([1, 2], pa.int32())))
    with table.update_schema() as update:
        update.add_column("later", ice.DateType(), default_value=date(2020, 2, 29))
    code = f"""
        from pyiceberg.table import StaticTable
        table = StaticTable.from_metadata({table.metadata_location!r})
        assert table.metadata.format_version == 3 and table.metadata.next_row_id == 2
        print(sorted((r["id"], r["n"], str(r["later"])) for r in table.scan().to_arrow().to_pylist()))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[(1, 1, '2020-02-29'), (2, 2, '2020-02-29')]"


# --- defaults ------------------------------------------------------------------------------------------------------

_NANOS = 1_577_836_800_123_456_789  # 2020-01-01T00:00:00.123456789
DEFAULTS: list[tuple[IcebergType, Any, Any, Any]] = [
    (ice.BooleanType(), False, False, False),
    (ice.IntegerType(), -5, -5, -5),
    (ice.LongType(), 5_000_000_000, 5_000_000_000, 5_000_000_000),
    (ice.FloatType(), 1.5, 1.5, 1.5),
    (ice.DoubleType(), 2.25e-10, 2.25e-10, 2.25e-10),
    (ice.DecimalType(12, 10), Decimal("0E-10"), "0.0000000000", Decimal("0E-10")),
    (ice.DecimalType(9, 2), Decimal("14.20"), "14.20", Decimal("14.20")),
    (ice.DateType(), date(1969, 12, 31), "1969-12-31", date(1969, 12, 31)),
    (ice.TimeType(), time(22, 31, 8, 123456), "22:31:08.123456", time(22, 31, 8, 123456)),
    (ice.TimestampType(), datetime(2017, 11, 16, 22, 31), "2017-11-16T22:31:00", datetime(2017, 11, 16, 22, 31)),
    (
        ice.TimestamptzType(),
        datetime(2017, 11, 16, 22, 31, 8, 123456, UTC),
        "2017-11-16T22:31:08.123456+00:00",
        datetime(2017, 11, 16, 22, 31, 8, 123456, UTC),
    ),
    (ice.TimestampNanoType(), _NANOS, "2020-01-01T00:00:00.123456789", _NANOS),
    (ice.TimestampNanoType(), -1, "1969-12-31T23:59:59.999999999", -1),
    (ice.TimestamptzNanoType(), _NANOS, "2020-01-01T00:00:00.123456789+00:00", _NANOS),
    (ice.StringType(), "it's ü", "it's ü", "it's ü"),
    (ice.StringType(), "", "", ""),
    (ice.UUIDType(), uuid.UUID(int=255), "00000000-0000-0000-0000-0000000000ff", uuid.UUID(int=255)),
    (ice.FixedType(4), b"\x00\x01\x02\xff", "000102ff", b"\x00\x01\x02\xff"),
    (ice.BinaryType(), b"\xde\xad", "dead", b"\xde\xad"),
]


@pytest.mark.parametrize(("kind", "value", "text", "read"), DEFAULTS, ids=lambda v: str(v)[:20])
def test_a_default_of_every_type(lake: SqliteCatalog, kind: IcebergType, value: Any, text: Any, read: Any) -> None:
    """Stored as the format's JSON, kept when the table is made and when it is loaded, and read in older rows."""
    made = NestedField(3, "made", kind, required=False, write_default=value)
    table = make(lake, Schema(*SCHEMA.fields, made))
    nothing = pa.table({"id": pa.array([1], pa.int64()), "word": ["w"]})
    table.append(nothing)
    with table.update_schema() as update:
        update.add_column("added", kind, default_value=value)
    fields = {f["name"]: f for f in stored(table)["schemas"][-1]["fields"]}
    assert fields["made"]["write-default"] == text
    assert "initial-default" not in fields["made"]
    assert (fields["added"]["initial-default"], fields["added"]["write-default"]) == (text, text)
    loaded = StaticTable.from_metadata(table.metadata_location)
    assert loaded.schema().find_field("added").initial_default == read
    column = loaded.scan().to_arrow()["added"].combine_chunks()
    nanoseconds = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    assert (column.cast(pa.int64()) if nanoseconds else column)[0].as_py() == read


def test_a_changed_default_leaves_older_rows_alone(lake: SqliteCatalog) -> None:
    table = make(lake)
    table.append(rows(1))
    with table.update_schema() as update:
        update.add_column("n", ice.IntegerType(), default_value=7)
    with table.update_schema() as update:
        update.set_default_value("n", 8)
    field = lake.load_table(("s",), "t").handle.schema().find_field("n")
    assert (field.initial_default, field.write_default) == (7, 8)
    assert table.scan().to_arrow()["n"].to_pylist() == [7]


def test_a_default_within_a_struct_is_read_in_older_rows(lake: SqliteCatalog) -> None:
    point = ice.StructType(NestedField(3, "x", ice.IntegerType(), required=False))
    table = make(lake, Schema(NestedField(1, "id", ice.LongType()), NestedField(2, "p", point)))
    arrow = pa.schema([("id", pa.int64()), ("p", pa.struct([("x", pa.int32())]))])
    table.append(pa.table({"id": [1, 2], "p": [{"x": 3}, None]}, schema=arrow))
    with table.update_schema() as update:
        update.add_column(("p", "y"), ice.IntegerType(), default_value=9)
    assert sorted(table.scan().to_arrow()["p"].to_pylist(), key=str) == [None, {"x": 3, "y": 9}]


# --- nanoseconds ---------------------------------------------------------------------------------------------------


def test_nanoseconds_come_back_and_have_bounds(lake: SqliteCatalog) -> None:
    when = NestedField(1, "at", ice.TimestampNanoType(), required=False)
    table = make(lake, Schema(when), PartitionSpec(PartitionField(1, 1000, DayTransform(), "day")))
    arrow = pa.table({"at": pa.array([_NANOS, _NANOS + 1, None], pa.timestamp("ns"))})
    table.append(arrow)
    read = table.scan().to_arrow()["at"].combine_chunks().cast(pa.int64()).to_pylist()
    assert sorted(read, key=lambda v: v or 0) == [None, _NANOS, _NANOS + 1]
    files = [e.data_file for m in manifests(table) for e in m.fetch_manifest_entry(table.io)]
    (full,) = [f for f in files if f.lower_bounds]
    assert int.from_bytes(full.lower_bounds[1], "little") == _NANOS
    assert int.from_bytes(full.upper_bounds[1], "little") == _NANOS + 1
    assert [f.null_value_counts[1] for f in files if not f.lower_bounds] == [1]


# --- the seam --------------------------------------------------------------------------------------------------------

LEANED_ON = (
    manifest.ManifestWriter,
    manifest.ManifestWriterV2,
    manifest.ManifestListWriter,
    manifest.ManifestListWriterV2,
    manifest.ManifestFile,
    manifest.DataFile,
    manifest._inherit_from_manifest,
)
"""What ours is a subclass of, or calls."""

FINGERPRINTS: dict[str, str] = {
    "UpdateSpec._partition_field": "37a6dd40324906a7",
    "Transaction.upgrade_table_version": "97afd4b73170cfde",
    "TableMetadataV3.model_dump_json": "b5069a0ee5a93a4b",
    "Snapshot.manifests": "567aa93101c165d4",
    "_SnapshotProducer.new_manifest_writer": "9d0c7567dedaaf5a",
    "_SnapshotProducer._commit": "c6fc9654eaee932c",
    "_SetFreshIDs.struct": "985adb33cd38f2b5",
    "ParquetFormatWriter.close": "c923907750d8346c",
    "UpgradeFormatVersionUpdate": "1d03a4721b5792a6",
    "AddSnapshotUpdate": "fc20a1a424f10764",
    "IcebergType.handle_primitive_type": "4d0d7df53394f916",
    "ArrowProjectionVisitor.list": "d45e23acdf08cdbd",
    "ArrowProjectionVisitor.map": "974471b92aac2029",
    "ManifestWriter": "40ccd83b891470bd",
    "ManifestWriterV2": "2a803406c856034f",
    "ManifestListWriter": "8ce10c4499167b51",
    "ManifestListWriterV2": "7013da02c129f681",
    "ManifestFile": "5a0a107e8ef50dde",
    "DataFile": "cd1f55806b6634c8",
    "_inherit_from_manifest": "b2b152102377d24b",
}


def fingerprint(code: Any) -> str:
    return hashlib.sha256(inspect.getsource(code).encode()).hexdigest()[:16]


def test_pyiceberg_is_what_this_was_written_for() -> None:
    """Fails when pyiceberg changes where ours stands in for it: compare, adapt, and only then change the value here."""
    places = {**install.PLACES, **{code.__qualname__: code for code in LEANED_ON}}
    assert {name: fingerprint(code) for name, code in places.items()} == FINGERPRINTS


def test_another_pyiceberg_is_left_alone(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(install, "_done", False)
    monkeypatch.setattr(install, "version", lambda _: "0.13.1")
    monkeypatch.setattr(install.defaults, "register", lambda: pytest.fail("it was changed"))
    with caplog.at_level(logging.WARNING):
        install.install()
    assert "pyiceberg is 0.13.1, not 0.12" in caplog.text


def test_version_2_is_written_by_pyiceberg_alone(lake: SqliteCatalog) -> None:
    table = make(lake, **{"format-version": "2"})
    table.append(rows(1))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert not isinstance(snapshot.manifests(table.io)[0], ManifestFileV3)
    assert "next-row-id" not in stored(table)
    header, _ = avro(snapshot.manifest_list)
    assert header["format-version"] == "2"
    assert "first-row-id" not in header
