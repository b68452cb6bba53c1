"""Column defaults: their JSON values for types that pyiceberg lacks, and schemas that keep them.

In memory a nanosecond timestamp is the number of nanoseconds since 1970: Python's datetime has only microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyiceberg.conversions import from_json, to_json
from pyiceberg.expressions.literals import Literal, LongLiteral
from pyiceberg.schema import _SetFreshIDs
from pyiceberg.types import (
    DecimalType,
    IcebergType,
    NestedField,
    StructType,
    TimestampNanoType,
    TimestamptzNanoType,
)
from pyiceberg.utils.datetime import (
    datetime_to_nanos,
    timestamp_to_nanos,
    timestamptz_to_nanos,
    to_human_timestamp,
    to_human_timestamptz,
)


def register() -> None:
    """Registers the missing types in pyiceberg's conversion tables."""
    write: Any = to_json
    write.register(DecimalType, _decimal_text)
    write.register(TimestampNanoType, lambda _, value: nanosecond_text(value, zoned=False))
    write.register(TimestamptzNanoType, lambda _, value: nanosecond_text(value, zoned=True))
    read: Any = from_json
    read.register(TimestampNanoType, lambda _, value: _nanoseconds(value, timestamp_to_nanos))
    read.register(TimestamptzNanoType, lambda _, value: _nanoseconds(value, timestamptz_to_nanos))
    convert = LongLiteral.__dict__["to"]  # the singledispatchmethod itself
    convert.register(TimestampNanoType, _same)
    convert.register(TimestamptzNanoType, _same)


def nanosecond_text(value: int | datetime, *, zoned: bool) -> str:
    """Returns ISO 8601 text with nine fractional digits."""
    nanoseconds = datetime_to_nanos(value) if isinstance(value, datetime) else value
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    whole = (to_human_timestamptz if zoned else to_human_timestamp)(seconds * 1_000_000)
    return f"{whole[:19]}.{fraction:09d}{whole[19:]}"


def _nanoseconds(value: str | int | datetime, parse: Callable[[str], int]) -> int:
    if isinstance(value, str):
        return parse(value)
    return datetime_to_nanos(value) if isinstance(value, datetime) else value


def _decimal_text(_: DecimalType, value: Decimal) -> str:
    """Returns all digits, since the scale is read from them: pyiceberg would write a zero as 0E-10."""
    return format(value, "f")


def _same(literal: LongLiteral, _: IcebergType) -> Literal[int]:
    return literal


def struct_with_fresh_ids(
    self: _SetFreshIDs, struct: StructType, field_results: list[Callable[[], IcebergType]]
) -> StructType:
    """Assigns new ids to the fields of a struct and keeps their defaults, which pyiceberg's own method drops."""
    ids = [self._get_and_increment(field.field_id) for field in struct.fields]
    return StructType(
        *(
            NestedField(
                field_id=new_id,
                name=field.name,
                field_type=result(),
                required=field.required,
                doc=field.doc,
                initial_default=field.initial_default,
                write_default=field.write_default,
            )
            for new_id, field, result in zip(ids, struct.fields, field_results, strict=True)
        )
    )
