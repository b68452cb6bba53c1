"""Random types, partitionings and rows of Iceberg tables: what the fuzz test of scans is made of.

`scan_history.py` changes and deletes, `scan_conditions.py` asks.
"""

from __future__ import annotations

import itertools
import math
import struct
import uuid
from datetime import UTC, date, datetime, timedelta
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
    VoidTransform,
    YearTransform,
)

EPOCH = datetime(1970, 1, 1)
LETTERS = ["a", "b", "Z", "é", "ß", "0", " ", "%", "_", "\U0001f600", "z" * 20, "aaaaaaaaaaaaaaaaa"]
LETTERS += ["\U0010ffff" * 17, "é" * 16, "\uffff", "\x7f", "a" * 300]

PRIMITIVES: list[ice.IcebergType] = [
    ice.BooleanType(),
    ice.IntegerType(),
    ice.LongType(),
    ice.FloatType(),
    ice.DoubleType(),
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
MEMBERS: list[ice.IcebergType] = [
    ice.IntegerType(),
    ice.FloatType(),
    ice.DoubleType(),
    ice.StringType(),
    ice.DecimalType(9, 2),
    ice.DateType(),
    ice.TimestamptzType(),
    ice.BinaryType(),
]
"""Of what nested types consist."""


def some_type(r: Random) -> ice.IcebergType:
    kind = r.random()
    if kind < 0.7:
        return r.choice(PRIMITIVES)
    if kind < 0.8:
        precision = r.randint(1, 38)
        return ice.DecimalType(precision, r.randint(0, precision))
    return _nested(r, 2)


def _nested(r: Random, depth: int) -> ice.IcebergType:
    """Ids are given anew when a table is made of it: here they only have to differ."""
    number = itertools.count(900 + 100 * depth)

    def member() -> ice.IcebergType:
        return _nested(r, depth - 1) if depth > 1 and r.random() < 0.3 else r.choice(MEMBERS)

    match r.choice(["struct", "struct", "list", "map"]):
        case "list":
            return ice.ListType(next(number), member(), element_required=False)
        case "map":
            return ice.MapType(next(number), ice.StringType(), next(number), member(), value_required=False)
    fields = [ice.NestedField(next(number), name, member(), required=False) for name in ("x", "y", "d")]
    return ice.StructType(*fields)


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
    if isinstance(t, ice.DecimalType) and t.precision < 4:
        return IdentityTransform()  # what TRUNCATE makes of it may have one digit more
    return r.choice([IdentityTransform(), *by_type.get(type(t), []), *([VoidTransform()] if r.random() < 0.1 else [])])


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
            odd = [math.nan, math.inf, -math.inf, 0.0, -0.0, 2.0**127, 2.0**-149]
            return r.choice(odd) if r.random() < 0.15 else near / 4
        case ice.DecimalType():
            unscaled = (
                near * r.choice([1, 7, 1000]) if r.random() < 0.95 else r.choice([-1, 1]) * (10**t.precision // 2)
            )
            return _decimal(unscaled % 10**t.precision if unscaled > 0 else -(-unscaled % 10**t.precision), t.scale)
        case ice.StringType():
            return "".join(r.choice(LETTERS) for _ in range(r.randint(0, 3))) + chr(ord("a") + near % 26)
        case ice.DateType():
            far = [date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(1582, 10, 14)]
            return date(1970, 1, 1) + timedelta(days=near * 11) if r.random() < 0.97 else r.choice(far)
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
            return uuid.UUID(int=(near & 0xFF) << 120 | r.choice([0, 1, 2**64])).bytes
        case ice.StructType():
            return {f.name: maybe(f.field_type, r, center) for f in t.fields}
        case ice.ListType():
            return [maybe(t.element_type, r, center) for _ in range(r.randint(0, 3))]
        case ice.MapType():
            return [(f"k{i}", maybe(t.value_type, r, center)) for i in range(r.randint(0, 2))]
    raise AssertionError(t)


def _decimal(unscaled: int, scale: int) -> Decimal:
    return Decimal(f"{unscaled}e-{scale}")


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
