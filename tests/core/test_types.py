"""SQL, Iceberg and Arrow types: every one there and back, nested, and what is refused."""

from __future__ import annotations

import uuid
from itertools import count

import pyarrow as pa
import pytest
from pyiceberg import types as ice
from pyiceberg.schema import Schema

from pinakes.core.arrays.conform import conform
from pinakes.core.errors import ConstraintViolation, InvalidArgument, NotSupportedError, TypeMismatch, TypeNotFound
from pinakes.core.types.arrow_names import sql_name_of_arrow
from pinakes.core.types.sql import (
    arrow_schema_of,
    arrow_type_of,
    iceberg_schema_of,
    iceberg_type,
    sql_name,
    stored_schema_of,
)
from pinakes.core.types.syntax import SqlField, SqlType


def made(
    name: str, *params: int, items: tuple[SqlType, ...] = (), fields: tuple[SqlField, ...] = ()
) -> ice.IcebergType:
    ids = count(1)
    return iceberg_type(SqlType(name, params, items, fields), lambda: next(ids))


BIGINT, VARCHAR = SqlType("BIGINT"), SqlType("VARCHAR")

# SQL's words, Iceberg's type, the name that is printed, the Arrow type under which queries see it.
EVERY_TYPE = [
    (("BOOLEAN",), ice.BooleanType(), "boolean", pa.bool_()),
    (("INTEGER",), ice.IntegerType(), "integer", pa.int32()),
    (("BIGINT",), ice.LongType(), "bigint", pa.int64()),
    (("REAL",), ice.FloatType(), "real", pa.float32()),
    (("DOUBLE",), ice.DoubleType(), "double", pa.float64()),
    (("DECIMAL", 18, 2), ice.DecimalType(18, 2), "decimal(18,2)", pa.decimal128(18, 2)),
    (("DATE",), ice.DateType(), "date", pa.date32()),
    (("TIME", 6), ice.TimeType(), "time(6)", pa.time64("us")),
    (("TIMESTAMP", 6), ice.TimestampType(), "timestamp(6)", pa.timestamp("us")),
    (
        ("TIMESTAMP WITH TIME ZONE", 6),
        ice.TimestamptzType(),
        "timestamp(6) with time zone",
        pa.timestamp("us", tz="UTC"),
    ),
    (("TIMESTAMP", 9), ice.TimestampNanoType(), "timestamp(9)", pa.timestamp("ns")),
    (
        ("TIMESTAMP WITH TIME ZONE", 9),
        ice.TimestamptzNanoType(),
        "timestamp(9) with time zone",
        pa.timestamp("ns", tz="UTC"),
    ),
    (("VARCHAR",), ice.StringType(), "varchar", pa.string()),
    (("UUID",), ice.UUIDType(), "uuid", pa.string()),
    (("BINARY", 16), ice.FixedType(16), "binary(16)", pa.binary(16)),
    (("VARBINARY",), ice.BinaryType(), "varbinary", pa.binary()),
]


@pytest.mark.parametrize(("sql", "iceberg", "name", "arrow"), EVERY_TYPE, ids=lambda v: str(v))
def test_every_type(sql: tuple[str, *tuple[int, ...]], iceberg: ice.IcebergType, name: str, arrow: pa.DataType) -> None:
    assert made(*sql) == iceberg
    assert sql_name(iceberg) == name
    assert arrow_type_of(iceberg) == arrow


@pytest.mark.parametrize(("sql", "iceberg", "name", "arrow"), EVERY_TYPE, ids=lambda v: str(v))
def test_every_type_of_a_result_makes_a_table(
    sql: tuple[str, *tuple[int, ...]], iceberg: ice.IcebergType, name: str, arrow: pa.DataType
) -> None:
    again = iceberg_schema_of(pa.schema([("c", arrow)]), format_version=3).fields[0].field_type
    assert again == (ice.StringType() if iceberg == ice.UUIDType() else iceberg)
    assert sql_name_of_arrow(arrow) == ("varchar" if name == "uuid" else name)


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        (("TINYINT",), "integer"),
        (("SMALLINT",), "integer"),
        (("INT8",), "bigint"),
        (("LONG",), "bigint"),
        (("FLOAT",), "real"),
        (("FLOAT", 24), "real"),
        (("FLOAT", 25), "double"),
        (("DOUBLE PRECISION",), "double"),
        (("DECIMAL",), "decimal(38,10)"),
        (("NUMERIC", 7), "decimal(7,0)"),
        (("VARCHAR", 20), "varchar"),
        (("CHAR", 1), "varchar"),
        (("TEXT",), "varchar"),
        (("string",), "varchar"),
        (("BINARY",), "varbinary"),
        (("VARBINARY", 10), "varbinary"),
        (("BYTEA",), "varbinary"),
        (("FIXED", 4), "binary(4)"),
        (("DATETIME",), "timestamp(6)"),
        (("TIMESTAMP", 0), "timestamp(6)"),
        (("TIMESTAMP", 7), "timestamp(9)"),
        (("TIMESTAMP_NTZ",), "timestamp(6)"),
        (("TIMESTAMP_NS",), "timestamp(9)"),
        (("TIMESTAMPTZ",), "timestamp(6) with time zone"),
        (("TIMESTAMP_LTZ",), "timestamp(6) with time zone"),
        (("TIMESTAMPTZ_NS",), "timestamp(9) with time zone"),
    ],
)
def test_other_spellings(sql: tuple[str, *tuple[int, ...]], name: str) -> None:
    assert sql_name(made(*sql)) == name


def test_nested_types() -> None:
    inner = SqlType("STRUCT", fields=(SqlField("a", BIGINT, nullable=False, comment="first"), SqlField("B c", VARCHAR)))
    nested = made("MAP", items=(VARCHAR, SqlType("ARRAY", items=(inner,))))
    assert sql_name(nested) == 'map(varchar, array(row(a bigint, "B c" varchar)))'
    assert isinstance(nested, ice.MapType)
    assert isinstance(nested.value_type, ice.ListType)
    struct = nested.value_type.element_type
    assert isinstance(struct, ice.StructType)
    assert [(f.name, f.required, f.doc) for f in struct.fields] == [("a", True, "first"), ("B c", False, None)]
    ids = [nested.key_id, nested.value_id, nested.value_type.element_id, *(f.field_id for f in struct.fields)]
    assert sorted(ids) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (("DECIMAL", 50, 2), "1 to 38"),
        (("DECIMAL", 0), "1 to 38"),
        (("DECIMAL", 5, 6), "scale"),
        (("DECIMAL", 1, 2, 3), "at most two numbers"),
        (("INTEGER", 11), "no parameter"),
        (("TIMESTAMP", 10), "0 to 9"),
        (("TIME", 7), "0 to 6"),
        (("FIXED",), "length"),
        (("BINARY", 0), "at least 1"),
        (("FLOAT", 54), "1 to 53"),
        (("ARRAY",), "one type"),
        (("MAP",), "2 types"),
        (("STRUCT",), "at least one field"),
    ],
)
def test_bad_parameters(sql: tuple[str, *tuple[int, ...]], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        made(*sql)


def test_a_field_twice_in_a_struct() -> None:
    with pytest.raises(InvalidArgument, match="twice"):
        made("STRUCT", fields=(SqlField("a", BIGINT), SqlField("a", VARCHAR)))


def test_unknown_types_say_what_exists() -> None:
    with pytest.raises(TypeNotFound, match=r"type FOO does not exist.*BIGINT.*STRUCT"):
        made("FOO")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("UINTEGER", "BIGINT"),
        ("UBIGINT", r"DECIMAL\(20,0\)"),
        ("INTERVAL", "BIGINT"),
        ("JSON", "VARCHAR"),
        ("TIMETZ", "TIME"),
    ],
)
def test_types_of_other_engines_say_what_to_use(name: str, instead: str) -> None:
    with pytest.raises(TypeNotFound, match=f"no type {name}. Use {instead}"):
        made(name)


@pytest.mark.parametrize(
    ("arrow", "name"),
    [
        (pa.null(), "varchar"),
        (pa.int8(), "integer"),
        (pa.uint8(), "integer"),
        (pa.uint16(), "integer"),
        (pa.uint32(), "bigint"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.float16(), "real"),
        (pa.large_string(), "varchar"),
        (pa.string_view(), "varchar"),
        (pa.binary_view(), "varbinary"),
        (pa.dictionary(pa.int16(), pa.string()), "varchar"),
        (pa.date64(), "date"),
        (pa.time32("s"), "time(6)"),
        (pa.time64("ns"), "time(6)"),
        (pa.timestamp("s"), "timestamp(6)"),
        (pa.timestamp("ns"), "timestamp(6)"),
        (pa.timestamp("ms", tz="Europe/Athens"), "timestamp(6) with time zone"),
        (pa.decimal32(5, 2), "decimal(5,2)"),
        (pa.decimal256(38, 2), "decimal(38,2)"),
        (pa.uuid(), "uuid"),
        (pa.bool8(), "integer"),
        (pa.list_(pa.uint8()), "array(integer)"),
        (pa.large_list(pa.string_view()), "array(varchar)"),
        (pa.list_(pa.int64(), 3), "array(bigint)"),
        (pa.map_(pa.string(), pa.uint32()), "map(varchar, bigint)"),
        (pa.struct([("a", pa.int64()), ("b", pa.list_(pa.date32()))]), "row(a bigint, b array(date))"),
    ],
    ids=str,
)
def test_what_create_table_as_makes(arrow: pa.DataType, name: str) -> None:
    field = iceberg_schema_of(pa.schema([pa.field("c", arrow, nullable=arrow == pa.null())])).fields[0]
    assert sql_name(field.field_type) == name
    assert not field.required


@pytest.mark.parametrize(
    "arrow",
    [pa.duration("s"), pa.month_day_nano_interval(), pa.decimal256(50, 2), pa.dense_union([pa.field("a", pa.int8())])],
    ids=str,
)
def test_what_create_table_as_refuses_names_the_column(arrow: pa.DataType) -> None:
    with pytest.raises(NotSupportedError, match=r"column 'c\.element\.x' is"):
        iceberg_schema_of(pa.schema([("c", pa.list_(pa.struct([("x", arrow)])))]))


def test_columns_of_create_table_as_have_names_of_their_own() -> None:
    with pytest.raises(InvalidArgument, match="'a' is twice"):
        iceberg_schema_of(pa.schema([("a", pa.int8()), ("a", pa.int8())]))
    with pytest.raises(InvalidArgument, match="no name"):
        iceberg_schema_of(pa.schema([("", pa.int8())]))


def test_ids_of_create_table_as_are_fresh_and_columns_first() -> None:
    schema = iceberg_schema_of(pa.schema([("a", pa.list_(pa.int8())), ("b", pa.int8())]))
    assert [f.field_id for f in schema.fields] == [1, 2]
    assert schema.highest_field_id == 3


@pytest.mark.parametrize(
    ("arrow", "name"),
    [
        (pa.null(), "unknown"),
        (pa.int8(), "tinyint"),
        (pa.uint32(), "bigint"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.string_view(), "varchar"),
        (pa.time64("ns"), "time(9)"),
        (pa.timestamp("s"), "timestamp(0)"),
        (pa.timestamp("ms", tz="UTC"), "timestamp(3) with time zone"),
        (pa.uuid(), "uuid"),
        (pa.duration("us"), "interval day to second"),
        (pa.month_day_nano_interval(), "interval"),
        (pa.dictionary(pa.int8(), pa.large_string()), "varchar"),
        (pa.run_end_encoded(pa.int32(), pa.int64()), "bigint"),
        (pa.json_(), "varchar"),
        (pa.list_view(pa.struct([("B c", pa.map_(pa.int8(), pa.bool_()))])), 'array(row("B c" map(tinyint, boolean)))'),
    ],
    ids=str,
)
def test_names_of_result_columns(arrow: pa.DataType, name: str) -> None:
    assert sql_name_of_arrow(arrow) == name


TABLE = Schema(
    ice.NestedField(1, "id", ice.LongType(), required=True),
    ice.NestedField(2, "u", ice.UUIDType()),
    ice.NestedField(3, "us", ice.ListType(6, ice.UUIDType(), element_required=False)),
    ice.NestedField(4, "m", ice.MapType(7, ice.StringType(), 8, ice.UUIDType(), value_required=False)),
    ice.NestedField(
        5, "s", ice.StructType(ice.NestedField(9, "u", ice.UUIDType()), ice.NestedField(10, "n", ice.IntegerType()))
    ),
)


def test_the_two_arrow_schemas_of_a_table() -> None:
    shown, stored = arrow_schema_of(TABLE), stored_schema_of(TABLE)
    assert [f.nullable for f in shown] == [False, True, True, True, True]
    assert shown.field("u").type == pa.string()
    assert shown.field("us").type.value_type == pa.string()
    assert shown.field("id").metadata is None
    assert stored.field("u").type == pa.uuid()
    assert stored.field("s").metadata == {b"PARQUET:field_id": b"5"}
    assert stored.field("us").type.value_field.metadata == {b"PARQUET:field_id": b"6"}


def rows_of_table() -> pa.RecordBatch:
    one, two = str(uuid.UUID(int=1)), str(uuid.UUID(int=2**127))
    return pa.RecordBatch.from_pylist(
        [
            {"id": 1, "u": one, "us": [one, None, two], "m": [("k", two)], "s": {"u": two, "n": 1}},
            {"id": 2, "u": None, "us": None, "m": None, "s": None},
            {"id": 3, "u": two, "us": [], "m": [], "s": {"u": None, "n": None}},
            {"id": 4, "u": two, "us": [one], "m": [("a", None), ("b", one)], "s": {"u": one, "n": 2}},
        ],
        schema=arrow_schema_of(TABLE),
    )


@pytest.mark.parametrize(("start", "length"), [(0, 4), (1, 3), (2, 1), (0, 0)])
def test_rows_to_files_and_back(start: int, length: int) -> None:
    rows = rows_of_table().slice(start, length)
    stored = conform(rows, stored_schema_of(TABLE))
    stored.validate(full=True)
    assert stored.schema.equals(stored_schema_of(TABLE), check_metadata=True)
    assert conform(stored, arrow_schema_of(TABLE)).to_pylist() == rows.to_pylist()


def test_uuids_are_read_in_any_usual_form_and_shown_in_one() -> None:
    target, shown = pa.schema([("u", pa.uuid())]), pa.schema([("u", pa.string())])
    given = ["123E4567-E89B-12D3-A456-426614174000", "123e4567e89b12d3a456426614174000", None]
    found = conform(conform(pa.record_batch({"u": given}), target), shown)
    assert found["u"].to_pylist() == ["123e4567-e89b-12d3-a456-426614174000"] * 2 + [None]


@pytest.mark.parametrize(
    "text", ["", "x", "123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a456-42661417400g"]
)
def test_a_text_that_is_no_uuid(text: str) -> None:
    with pytest.raises(TypeMismatch, match=r"column 'u' is uuid.*is not a uuid"):
        conform(pa.record_batch({"u": [text]}), pa.schema([("u", pa.uuid())]))


def test_values_that_do_not_fit() -> None:
    with pytest.raises(TypeMismatch, match=r"column 'n' is tinyint.*bigint"):
        conform(pa.record_batch({"n": [300]}), pa.schema([("n", pa.int8())]))
    with pytest.raises(ConstraintViolation, match="'n' is NOT NULL"):
        conform(pa.record_batch({"n": [1, None]}), pa.schema([pa.field("n", pa.int64(), nullable=False)]))


@pytest.mark.parametrize(
    ("rows", "target"),
    [
        ([["123e4567-e89b-12d3-a456-426614174000", None]], pa.list_(pa.field("e", pa.uuid(), nullable=False))),
        ([[("k", None)]], pa.map_(pa.string(), pa.field("v", pa.uuid(), nullable=False))),
        ([None, {"u": None}], pa.struct([pa.field("u", pa.uuid(), nullable=False)])),
        ([["a", None]], pa.list_(pa.field("e", pa.string(), nullable=False))),
    ],
    ids=["list", "map", "struct", "list of text"],
)
def test_null_within_a_value(rows: list[object], target: pa.DataType) -> None:
    with pytest.raises(ConstraintViolation, match="column 'c' has a NULL in a field that is NOT NULL"):
        conform(pa.record_batch({"c": pa.array(rows, as_text(target))}), pa.schema([("c", target)]))


def as_text(t: pa.DataType) -> pa.DataType:
    """The type with text for uuid, and NULL allowed everywhere."""
    if pa.types.is_map(t):
        return pa.map_(pa.string(), pa.string())
    return pa.list_(pa.string()) if pa.types.is_list(t) else pa.struct([("u", pa.string())])


def test_digits_of_time_may_go() -> None:
    nanos = pa.array([1_000_000_001], pa.timestamp("ns"))
    found = conform(pa.record_batch({"t": nanos}), pa.schema([("t", pa.timestamp("us"))]))
    assert found["t"].cast(pa.int64()).to_pylist() == [1_000_000]
