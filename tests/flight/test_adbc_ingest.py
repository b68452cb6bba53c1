"""Rows of a client into a table: every mode, streamed, in one commit, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.flight.serving import Serving

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", None]})


def count(cursor: adbc.Cursor, table: str) -> int:
    cursor.execute(f"SELECT count(*) FROM {table}")
    (number,) = cursor.fetchone()  # type: ignore[misc]
    return int(number)


def snapshots(cursor: adbc.Cursor, table: str) -> int:
    cursor.execute(f"SELECT count(*) FROM system.iceberg.snapshots WHERE table_name = '{table}'")
    (number,) = cursor.fetchone()  # type: ignore[misc]
    return int(number)


def test_create_append_and_replace(cursor: adbc.Cursor) -> None:
    assert cursor.adbc_ingest("t1", ROWS, mode="create") == 3
    assert cursor.adbc_ingest("t1", ROWS, mode="append") == 3
    assert count(cursor, "t1") == 6
    assert cursor.adbc_ingest("t1", ROWS.slice(0, 1), mode="replace") == 1
    assert count(cursor, "t1") == 1


def test_create_or_append(cursor: adbc.Cursor) -> None:
    for rows in (3, 6):
        assert cursor.adbc_ingest("t2", ROWS, mode="create_append") == 3
        assert count(cursor, "t2") == rows


RUNS = pc.run_end_encode(pa.array(["a", "a", None]))
VIEWS = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["x", "y"]).cast(pa.string_view()))
OFFSETS = pa.array([0, 1, 1, 3], pa.int32())


@pytest.mark.parametrize(
    "column",
    [
        RUNS,
        VIEWS,
        pa.ListArray.from_arrays(OFFSETS, RUNS),
        pa.ListArray.from_arrays(OFFSETS, VIEWS),
        pa.StructArray.from_arrays([VIEWS, RUNS], ["v", "r"]),
        pa.MapArray.from_arrays(OFFSETS, pa.array(["k", "l", "m"]), RUNS),
        pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["p", "q"]).dictionary_encode()),
    ],
    ids=lambda column: str(column.type),
)
def test_encoded_columns_become_their_values(cursor: adbc.Cursor, column: pa.Array) -> None:
    for mode in ("replace", "append"):
        cursor.adbc_ingest("encoded", pa.table({"c": column}), mode=mode)
    cursor.execute("SELECT * FROM encoded")
    assert cursor.fetch_arrow_table()["c"].to_pylist() == column.to_pylist() * 2


def test_what_can_not_be_done_is_reported_and_leaves_nothing(cursor: adbc.Cursor) -> None:
    with pytest.raises(adbc.ProgrammingError, match="TABLE_NOT_FOUND"):
        cursor.adbc_ingest("t3", ROWS, mode="append")
    cursor.adbc_ingest("t3", ROWS, mode="create")
    with pytest.raises(adbc.ProgrammingError, match="TABLE_EXISTS"):
        cursor.adbc_ingest("t3", ROWS, mode="create")
    with pytest.raises(adbc.ProgrammingError, match="COLUMN_NOT_FOUND"):
        cursor.adbc_ingest("t3", pa.table({"other": [1]}), mode="append")
    assert count(cursor, "t3") == 3


def test_columns_are_matched_by_name(cursor: adbc.Cursor) -> None:
    cursor.adbc_ingest("t4", ROWS, mode="create")
    cursor.adbc_ingest("t4", pa.table({"name": ["z"], "id": pa.array([9], pa.int64())}), mode="append")
    cursor.execute("SELECT id FROM t4 WHERE name = 'z'")
    assert cursor.fetchall() == [(9,)]


def test_into_a_schema_of_a_catalog(cursor: adbc.Cursor) -> None:
    cursor.execute('CREATE SCHEMA "a b"')
    assert cursor.adbc_ingest("t 5", ROWS, mode="create", catalog_name="lake", db_schema_name="a b") == 3
    assert count(cursor, 'lake."a b"."t 5"') == 3
    with pytest.raises(adbc.ProgrammingError, match="NOT_FOUND"):
        cursor.adbc_ingest("t", ROWS, mode="create", catalog_name="nowhere")


def test_a_catalog_that_is_not_there_is_no_schema_of_the_current_one(cursor: adbc.Cursor) -> None:
    cursor.execute("CREATE SCHEMA elsewhere")
    cursor.execute("CREATE SCHEMA elsewhere.deep")
    with pytest.raises(adbc.ProgrammingError, match="CATALOG_NOT_FOUND: catalog 'elsewhere' is not attached"):
        cursor.adbc_ingest("astray", ROWS, mode="create", catalog_name="elsewhere", db_schema_name="deep")
    cursor.execute("SHOW TABLES IN elsewhere.deep")
    assert cursor.fetchall() == []


def test_columns_that_can_not_be_distinguished(cursor: adbc.Cursor) -> None:
    rows = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(adbc.ProgrammingError, match="several columns have the same name: a"):
        cursor.adbc_ingest("twice", rows, mode="create")


def test_a_value_that_does_not_fit_is_reported(cursor: adbc.Cursor) -> None:
    """The rows are gone by then, so it is not looked for again."""
    cursor.execute("CREATE TABLE numbers (n BIGINT)")
    with pytest.raises(adbc.Error, match="'three' can't be read as"):
        cursor.adbc_ingest("numbers", pa.table({"n": ["1", "three"]}), mode="append")


def test_a_temporary_table_is_the_connections_own(server: Serving, cursor: adbc.Cursor) -> None:
    assert cursor.adbc_ingest("mine", ROWS, mode="create", temporary=True) == 3
    assert count(cursor, "mine") == 3
    with server.connect() as other, other.cursor() as their, pytest.raises(adbc.ProgrammingError, match="NOT_FOUND"):
        their.execute("SELECT * FROM mine")


def test_a_stream_of_many_batches_is_one_commit(cursor: adbc.Cursor) -> None:
    schema = pa.schema([("n", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 300_000, 10_000):
            yield pa.record_batch([pa.array(range(start, start + 10_000), pa.int64())], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    assert cursor.adbc_ingest("streamed", reader, mode="create") == 300_000
    cursor.execute("SELECT count(*), min(n), max(n), sum(n) FROM streamed")
    assert cursor.fetchall() == [(300_000, 0, 299_999, 299_999 * 150_000)]
    assert snapshots(cursor, "streamed") == 1


def test_a_stream_that_fails_half_way_leaves_no_table(cursor: adbc.Cursor) -> None:
    schema = pa.schema([("n", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([1, 2, 3], pa.int64())], schema=schema)
        raise ValueError("half way")

    with pytest.raises(adbc.Error):
        cursor.adbc_ingest("broken", pa.RecordBatchReader.from_batches(schema, batches()), mode="create")
    cursor.execute("SHOW TABLES LIKE 'broken'")
    assert cursor.fetchall() == []


def test_ingested_rows_are_rolled_back(server: Serving) -> None:
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("kept", ROWS, mode="create")
        connection.commit()
        cursor.adbc_ingest("kept", ROWS, mode="append")
        assert count(cursor, "kept") == 6
        connection.rollback()
        assert count(cursor, "kept") == 3


def test_types_of_every_kind_come_back(cursor: adbc.Cursor) -> None:
    rows = pa.table(
        {
            "u": pa.array([200], pa.uint8()),
            "f": pa.array([1.5], pa.float32()),
            "d": pa.array(["x"]).dictionary_encode(),
            "l": pa.array([[1, None]], pa.list_(pa.int32())),
            "s": pa.array([{"a": 1}], pa.struct([("a", pa.int64())])),
            "t": pa.array([0], pa.timestamp("ms", tz="UTC")),
        }
    )
    assert cursor.adbc_ingest("kinds", rows, mode="create") == 1
    cursor.execute("SELECT u, f, d, l, s FROM kinds")
    assert cursor.fetchall() == [(200, 1.5, "x", [1, None], {"a": 1})]
