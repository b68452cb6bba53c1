"""Random Iceberg tables with a history, and random conditions on them: what the fuzz test of scans is made of."""

from __future__ import annotations

import math
import struct
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from pyiceberg import types as ice
from pyiceberg.table import Table
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
    YearTransform,
)

EPOCH = datetime(1970, 1, 1)
LETTERS = ["a", "b", "Z", "é", "ß", "0", " ", "%", "_", "\U0001f600", "z" * 20, "aaaaaaaaaaaaaaaaa"]

PRIMITIVES: list[ice.IcebergType] = [
    ice.BooleanType(),
    ice.IntegerType(),
    ice.LongType(),
    ice.FloatType(),
    ice.DoubleType(),
    ice.DecimalType(9, 2),
    ice.DecimalType(18, 3),
    ice.DecimalType(30, 5),
    ice.StringType(),
    ice.StringType(),
    ice.DateType(),
    ice.TimeType(),
    ice.TimestampType(),
    ice.TimestamptzType(),
    ice.BinaryType(),
    ice.FixedType(3),
    ice.UUIDType(),
]


def some_type(r: Random) -> ice.IcebergType:
    if r.random() < 0.85:
        return r.choice(PRIMITIVES)
    return r.choice(
        [
            ice.StructType(
                ice.NestedField(901, "x", ice.IntegerType(), required=False),
                ice.NestedField(902, "y", ice.StringType(), required=False),
                ice.NestedField(906, "d", ice.DoubleType(), required=False),
            ),
            ice.ListType(903, ice.IntegerType(), element_required=False),
            ice.MapType(904, ice.StringType(), 905, ice.DoubleType(), value_required=False),
        ]
    )


def transforms_of(t: ice.IcebergType, r: Random) -> Transform[Any, Any]:
    times: list[Any] = [YearTransform(), MonthTransform(), DayTransform()]
    by_type: dict[type, list[Any]] = {
        ice.IntegerType: [TruncateTransform(10), BucketTransform(4)],
        ice.LongType: [TruncateTransform(7), BucketTransform(3)],
        ice.DecimalType: [TruncateTransform(50), BucketTransform(3)],
        ice.StringType: [TruncateTransform(2), BucketTransform(4)],
        ice.DateType: [*times, BucketTransform(3)],
        ice.TimestampType: [*times, HourTransform(), BucketTransform(3)],
        ice.TimestamptzType: [*times, HourTransform(), BucketTransform(3)],
        ice.BinaryType: [BucketTransform(3)],
        ice.UUIDType: [BucketTransform(3)],
        ice.TimeType: [BucketTransform(3)],
    }
    return r.choice([IdentityTransform(), *by_type.get(type(t), [])])


def value(t: ice.IcebergType, r: Random, center: int) -> Any:
    """A random value about a center, so that files differ in what they hold."""
    near = center + r.randint(-3, 3)
    match t:
        case ice.BooleanType():
            return r.random() < 0.5
        case ice.IntegerType():
            return near if r.random() < 0.97 else r.choice([2**31 - 1, -(2**31)])
        case ice.LongType():
            return near if r.random() < 0.97 else r.choice([2**63 - 1, -(2**63)])
        case ice.FloatType() | ice.DoubleType():
            odd = [math.nan, math.inf, -math.inf, 0.0, -0.0]
            return r.choice(odd) if r.random() < 0.15 else near / 4
        case ice.DecimalType():
            return Decimal(near * r.choice([1, 7, 1000])).scaleb(-t.scale)
        case ice.StringType():
            return "".join(r.choice(LETTERS) for _ in range(r.randint(0, 3))) + chr(ord("a") + near % 26)
        case ice.DateType():
            return date(1970, 1, 1) + timedelta(days=near * 11)
        case ice.TimeType():
            return (datetime.min + timedelta(microseconds=near * 1_000_001 % 86_400_000_000)).time()
        case ice.TimestampType():
            return EPOCH + timedelta(hours=near * 7, microseconds=r.randint(0, 3))
        case ice.TimestamptzType():
            return (EPOCH + timedelta(hours=near * 7)).replace(tzinfo=UTC)
        case ice.BinaryType():
            return bytes(r.choice([0, 1, 65, 254, 255]) for _ in range(r.randint(0, 20)))
        case ice.FixedType():
            return struct.pack("<I", near & 0xFFFFFF)[:3]
        case ice.UUIDType():
            return uuid.UUID(int=(near & 0xFF) << 120).bytes
        case ice.StructType():
            return {f.name: maybe(f.field_type, r, center) for f in t.fields}
        case ice.ListType():
            return [maybe(t.element_type, r, center) for _ in range(r.randint(0, 3))]
        case ice.MapType():
            return [(f"k{i}", maybe(t.value_type, r, center)) for i in range(r.randint(0, 2))]
    raise AssertionError(t)


def maybe(t: ice.IcebergType, r: Random, center: int, nulls: float = 0.15) -> Any:
    return None if r.random() < nulls else value(t, r, center)


def rows(table: Table, r: Random, first: int) -> pa.Table:
    """Some rows for a table; `id` is the number of each."""
    center, count = r.randint(-40, 40), r.randint(1, 12)
    schema = table.schema().as_arrow()
    columns = []
    for field, arrow in zip(table.schema().fields, schema, strict=True):
        if field.name == "id":
            columns.append(pa.array(range(first, first + count), arrow.type))
            continue
        nulls = r.choice([0.0, 0.15, 0.15, 1.0])
        values = [maybe(field.field_type, r, center, nulls) for _ in range(count)]
        columns.append(_array(values, arrow.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _array(values: list[Any], t: pa.DataType) -> pa.Array:
    if isinstance(t, pa.UuidType):
        return pa.ExtensionArray.from_storage(t, pa.array(values, pa.binary(16)))
    return pa.array(values, t)


# --- histories ---------------------------------------------------------------------------------------------------


def evolve(table: Table, r: Random, number: int) -> None:
    """One random change of the schema or the partitioning."""
    fields = [f for f in table.schema().fields if f.name != "id"]
    partitioned = {f.source_id for s in table.metadata.specs().values() for f in s.fields}
    free = [f for f in fields if f.field_id not in partitioned]
    what = r.choice(["add", "rename", "swap", "readd", "readd", "promote", "drop", "move", "nest", "spec", "spec"])
    if what == "spec":
        return _respec(table, r)
    with table.update_schema() as change:
        if what == "rename" and fields:
            change.rename_column(r.choice(fields).name, f"n{number}")
        elif what == "move" and len(fields) > 1:
            one, other = r.sample(fields, 2)
            change.move_before(one.name, other.name)
        elif what == "drop" and len(free) > 1:
            change.delete_column(r.choice(free).name)
        elif what == "promote":
            for f in fields:
                _promote(change, f)
        elif what == "nest":
            for f in fields:
                if isinstance(f.field_type, ice.StructType):
                    change.add_column((f.name, f"z{number}"), ice.LongType())
        elif what not in ("swap", "readd"):
            change.add_column(f"a{number}", some_type(r))
    if what == "swap" and len(fields) > 1:
        _swap(table, *r.sample([f.name for f in fields], 2))
    if what == "readd" and len(free) > 1:
        name = r.choice(free).name
        with table.update_schema() as change:
            change.delete_column(name)
        with table.update_schema() as change:
            change.add_column(name, some_type(r))
    return None


DEFAULTS = [
    ("INT", "7"),
    ("DOUBLE", "1.5"),
    ("VARCHAR", "'it''s'"),
    ("DECIMAL(9, 2)", "-1.25"),
    ("DATE", "DATE '1970-01-05'"),
    ("TIMESTAMP", "TIMESTAMP '1970-01-02 03:04:05.000006'"),
    ("BOOLEAN", "TRUE"),
]
"""Types with a value that old rows are to have (format version 3)."""


def _promote(change: Any, f: ice.NestedField) -> None:
    wider = {ice.IntegerType: ice.LongType(), ice.FloatType: ice.DoubleType()}.get(type(f.field_type))
    if isinstance(f.field_type, ice.DecimalType) and f.field_type.precision < 30:
        wider = ice.DecimalType(f.field_type.precision + 4, f.field_type.scale)
    if wider is not None:
        change.update_column(f.name, wider)


def _swap(table: Table, one: str, other: str) -> None:
    for old, new in ((one, "swapped"), (other, one), ("swapped", other)):
        with table.update_schema() as change:
            change.rename_column(old, new)


def _respec(table: Table, r: Random) -> None:
    with table.update_spec() as change:
        used = {f.source_id for f in table.spec().fields}
        if table.spec().fields and r.random() < 0.5:
            change.remove_field(r.choice(table.spec().fields).name)
            return
        free = [f for f in table.schema().fields if f.field_id not in used and partitionable(f.field_type)]
        if free:
            f = r.choice(free)
            change.add_field(f.name, transforms_of(f.field_type, r), f"p{r.randint(0, 10**9)}")


def partitionable(t: ice.IcebergType) -> bool:
    return t.is_primitive and not isinstance(
        t, ice.FloatType | ice.DoubleType | ice.FixedType | ice.UUIDType | ice.TimeType
    )


# --- conditions --------------------------------------------------------------------------------------------------


def condition(table: pa.Table, schema: Any, r: Random, depth: int = 2) -> str:
    """SQL that is true, false or NULL of a row; its constants are mostly such as the table has."""
    if depth and r.random() < 0.4:
        parts = [condition(table, schema, r, depth - 1) for _ in range(r.randint(2, 3))]
        joined = f" {r.choice(['AND', 'OR'])} ".join(f"({p})" for p in parts)
        return f"NOT ({joined})" if r.random() < 0.2 else joined
    field = r.choice([f for f in schema.fields if f.field_type.is_primitive])
    name = '"' + field.name + '"'
    return _on(name, field.field_type, [v for v in table.column(field.name).to_pylist() if v is not None], r)


def _on(name: str, t: ice.IcebergType, seen: list[Any], r: Random) -> str:
    def constant() -> str:
        return literal(t, r.choice(seen) if seen and r.random() < 0.8 else _seen(value(t, r, r.randint(-50, 50)), t))

    kind = r.random()
    if kind < 0.1:
        return f"{name} IS {r.choice(['', 'NOT '])}NULL"
    if kind < 0.2:
        return f"{name} {r.choice(['', 'NOT '])}IN ({', '.join(constant() for _ in range(r.randint(1, 6)))})"
    if kind < 0.3:
        return f"{name} BETWEEN {constant()} AND {constant()}"
    if kind < 0.35:
        return f"{name} IS {r.choice(['', 'NOT '])}DISTINCT FROM {constant()}"
    if isinstance(t, ice.StringType) and kind < 0.55:
        word = r.choice(seen) if seen else "a"
        part = word[: r.randint(0, 3)].replace("'", "''")
        return f"{name} {r.choice(['LIKE', 'NOT LIKE', 'ILIKE'])} '{part}%'"
    if isinstance(t, ice.BooleanType) and kind < 0.6:
        return r.choice([name, f"NOT {name}", f"{name} IS TRUE", f"{name} IS NOT FALSE"])
    if isinstance(t, ice.IntegerType | ice.LongType) and kind < 0.45:
        return f"{name} {r.choice(['<', '>', '=', '>='])} {r.randint(-50, 50)}.5"
    if isinstance(t, ice.TimestampType) and kind < 0.45:
        day = literal(ice.DateType(), date(1970, 1, r.randint(1, 20)))
        return f"CAST({name} AS DATE) {r.choice(['<', '>', '='])} {day}"
    operator = r.choice(["=", "=", "<", "<=", ">", ">=", "<>"])
    return f"{name} {operator} {constant()}" if r.random() < 0.8 else f"{constant()} {operator} {name}"


def _seen(v: Any, t: ice.IcebergType) -> Any:
    return str(uuid.UUID(bytes=v)) if isinstance(t, ice.UUIDType) else v


def literal(t: ice.IcebergType, v: Any) -> str:
    match t:
        case ice.BooleanType():
            return "TRUE" if v else "FALSE"
        case ice.IntegerType() | ice.LongType():
            return str(v)
        case ice.FloatType():
            return f"CAST('{v!r}' AS REAL)"
        case ice.DoubleType():
            return f"CAST('{v!r}' AS DOUBLE)"
        case ice.DecimalType():
            return f"CAST('{v:f}' AS DECIMAL({t.precision}, {t.scale}))"
        case ice.StringType() | ice.UUIDType():
            return "'" + str(v).replace("'", "''") + "'"
        case ice.DateType():
            return f"DATE '{v.isoformat()}'"
        case ice.TimeType():
            assert isinstance(v, time)
            return f"'{v.isoformat('microseconds')}'"
        case ice.TimestampType():
            return f"TIMESTAMP '{v.isoformat(' ', 'microseconds')}'"
        case ice.TimestamptzType():
            return f"CAST('{v.astimezone(UTC).isoformat('T', 'microseconds')}' AS TIMESTAMPTZ)"
        case ice.BinaryType() | ice.FixedType():
            return f"X'{v.hex()}'"
    raise AssertionError(t)
