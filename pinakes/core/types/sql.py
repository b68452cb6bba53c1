"""Conversion between SQL type names, as in CREATE TABLE and DESCRIBE, and Iceberg's types.

`iceberg_type` accepts the usual spellings of every type that Iceberg has; `sql_name` prints one that it accepts, in
Trino's spelling. Choices where engines differ:

- DECIMAL without parameters is DECIMAL(38,10), as in this engine's CAST; DECIMAL(p) has no digits after the point.
- TINYINT and SMALLINT are Iceberg's int. VARCHAR(n) and CHAR(n) are string: Iceberg keeps no length.
- FLOAT is 32 bits, FLOAT(25) to FLOAT(53) are DOUBLE.
- TIMESTAMP(p) is kept in microseconds, from TIMESTAMP(7) on in nanoseconds (format version 3).
- BINARY(n) is Iceberg's fixed; BINARY and VARBINARY(n) have any length.

This module loads pyiceberg, so nothing that runs at start-up may import it: `core/types/arrow_names.py` is the light
counterpart for result schemas.
"""

from __future__ import annotations

from collections.abc import Callable

from pyiceberg import types as ice

from pinakes.core.errors import InternalError, InvalidArgument, TypeNotFound, listing
from pinakes.core.names import spell
from pinakes.core.suggestions import did_you_mean
from pinakes.core.types.iceberg_arrow import (
    arrow_schema_of,
    arrow_type_of,
    iceberg_schema_of,
    stored_schema_of,
    unique_names,
)
from pinakes.core.types.syntax import SqlType
from pinakes.core.types.variant import VariantType

__all__ = [
    "arrow_schema_of",
    "arrow_type_of",
    "iceberg_schema_of",
    "iceberg_type",
    "sql_name",
    "stored_schema_of",
]

NextId = Callable[[], int]

_PLAIN: dict[str, ice.IcebergType] = {
    **dict.fromkeys(("BOOLEAN", "BOOL", "LOGICAL"), ice.BooleanType()),
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "INT", "INT1", "INT2", "INT4", "BYTE", "SHORT"), ice.IntegerType()
    ),
    **dict.fromkeys(("BIGINT", "LONG", "INT8"), ice.LongType()),
    **dict.fromkeys(("REAL", "FLOAT4"), ice.FloatType()),
    **dict.fromkeys(("DOUBLE", "DOUBLE PRECISION", "FLOAT8"), ice.DoubleType()),
    "DATE": ice.DateType(),
    "UUID": ice.UUIDType(),
    **dict.fromkeys(("STRING", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "NAME"), ice.StringType()),
    **dict.fromkeys(("BYTEA", "BLOB", "BYTES", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB"), ice.BinaryType()),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_US"), ice.TimestampType()),
    "TIMESTAMP_NS": ice.TimestampNanoType(),
    **dict.fromkeys(("TIMESTAMPTZ_NS", "TIMESTAMP_TZ_NS"), ice.TimestamptzNanoType()),
}
"""Types without parameters."""

_DECIMAL = frozenset({"DECIMAL", "NUMERIC", "DEC", "NUMBER"})
_TIMESTAMP = frozenset({"TIMESTAMP", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP_NTZ", "TIMESTAMPNTZ", "DATETIME"})
_TIMESTAMPTZ = frozenset(
    {"TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH LOCAL TIME ZONE"}
    | {"TIMESTAMP_LTZ", "TIMESTAMPLTZ", "TIMESTAMP_TZ", "DATETIMETZ"}
)
_TIME = frozenset({"TIME", "TIME WITHOUT TIME ZONE"})
_STRING = frozenset(
    {"VARCHAR", "CHAR", "NVARCHAR", "NCHAR", "BPCHAR", "CHARACTER", "CHARACTER VARYING", "CHAR VARYING"}
)
_LIST = frozenset({"ARRAY", "LIST"})
_STRUCT = frozenset({"STRUCT", "ROW", "OBJECT"})

_SHOWN = (
    "BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p,s), DATE, TIME, TIMESTAMP, TIMESTAMP WITH TIME ZONE, "
    "TIMESTAMP_NS, TIMESTAMPTZ_NS, VARCHAR, UUID, BINARY(n), VARBINARY, ARRAY, MAP, STRUCT"
)

TYPES_INSTEAD: dict[str, str] = {
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINT8", "UINT16", "TINYINT UNSIGNED", "SMALLINT UNSIGNED"), "INTEGER"),
    **dict.fromkeys(("UINTEGER", "UINT", "UINT32", "INT UNSIGNED", "INTEGER UNSIGNED", "MEDIUMINT"), "BIGINT"),
    **dict.fromkeys(("UBIGINT", "UINT64", "BIGINT UNSIGNED", "UDECIMAL"), "DECIMAL(20,0)"),
    **dict.fromkeys(("HUGEINT", "INT128", "UHUGEINT", "UINT128", "BIGNUM", "BIGDECIMAL", "INT256"), "DECIMAL(38,0)"),
    **dict.fromkeys(("INT16", "INT32", "SERIAL", "SMALLSERIAL", "YEAR"), "INTEGER"),
    **dict.fromkeys(("INT64", "BIGSERIAL"), "BIGINT"),
    **dict.fromkeys(("FLOAT16", "HALF"), "REAL"),
    **dict.fromkeys(("JSON", "JSONB", "VARIANT", "XML", "ENUM", "INET", "HSTORE", "SUPER"), "VARCHAR"),
    **dict.fromkeys(("MONEY", "SMALLMONEY"), "DECIMAL(19,4)"),
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), "VARBINARY (well-known binary)"),
    **dict.fromkeys(("BIT", "VARBIT", "BIT VARYING"), "BOOLEAN or VARBINARY"),
    **dict.fromkeys(("TIMETZ", "TIME WITH TIME ZONE"), "TIME or TIMESTAMP WITH TIME ZONE"),
    "INTERVAL": "BIGINT, counting the unit you need",
    "UNION": "STRUCT with one optional field per member",
}
"""Types of other engines that Iceberg lacks, with their replacements."""


# --- SQL to Iceberg ----------------------------------------------------------------------------------------------


LONGEST_FIXED = 10_000
"""Maximum bytes of BINARY(n)."""


def iceberg_type(sql: SqlType, next_id: NextId) -> ice.IcebergType:
    """Converts a parsed type to an Iceberg type; nested fields get their ids from `next_id`."""
    name = sql.name.upper()
    plain = _PLAIN.get(name)
    if plain is not None:
        _numbers(sql, most=0)
        return plain
    if name in _LIST or name in _STRUCT or name == "MAP":
        return _nested_type(sql, name, next_id)
    return _sized_type(sql, name)


def _sized_type(sql: SqlType, name: str) -> ice.IcebergType:
    """Converts a type that may have numbers in parentheses."""
    if name in _DECIMAL:
        return _decimal(sql)
    if name in _TIMESTAMP:
        return ice.TimestampNanoType() if _digits(sql, 9) > 6 else ice.TimestampType()
    if name in _TIMESTAMPTZ:
        return ice.TimestamptzNanoType() if _digits(sql, 9) > 6 else ice.TimestamptzType()
    if name in _TIME:
        _digits(sql, 6)
        return ice.TimeType()
    if name in _STRING:
        _length(sql)
        return ice.StringType()
    if name == "FLOAT":
        return _float(sql)
    return _bytes_type(sql, name)


def _bytes_type(sql: SqlType, name: str) -> ice.IcebergType:
    length = _length(sql) if name in ("BINARY", "VARBINARY", "FIXED", "BINARY VARYING") else None
    if name in ("VARBINARY", "BINARY VARYING") or (name == "BINARY" and length is None):
        return ice.BinaryType()
    if name in ("BINARY", "FIXED"):
        if length is None:
            raise InvalidArgument("FIXED needs its length in bytes: FIXED(16)")
        if length > LONGEST_FIXED:
            raise InvalidArgument(
                f"{name}({length}) is too long: up to {LONGEST_FIXED:,} bytes are supported, since each row takes "
                "them, also one that is NULL. Write BINARY without a length."
            )
        return ice.FixedType(length)
    raise _unknown(name)


def _unknown(name: str) -> TypeNotFound:
    instead = TYPES_INSTEAD.get(name)
    if instead is not None:
        return TypeNotFound(f"Iceberg has no type {name}. Use {instead}.")
    hint = did_you_mean(name, (*_PLAIN, *_DECIMAL, *_TIMESTAMP, *_STRING))
    return TypeNotFound(f"type {name} does not exist; available: {_SHOWN}.{hint}")


def _nested_type(sql: SqlType, name: str, next_id: NextId) -> ice.IcebergType:
    if name in _STRUCT:
        return _struct(sql, next_id)
    wanted = 2 if name == "MAP" else 1
    if len(sql.items) != wanted:
        example = "MAP(VARCHAR, BIGINT)" if name == "MAP" else f"{name}(BIGINT)"
        raise InvalidArgument(f"{name} needs {_types(wanted)} in it, not {len(sql.items)}: {example}")
    # A fixed-size array (INTEGER[3]) is stored as a list of any length: Iceberg keeps no length.
    ids = [next_id() for _ in sql.items]
    inner = [iceberg_type(item, next_id) for item in sql.items]
    if name == "MAP":
        return ice.MapType(ids[0], inner[0], ids[1], inner[1], value_required=False)
    return ice.ListType(ids[0], inner[0], element_required=False)


def _types(count: int) -> str:
    return "one type" if count == 1 else f"{count} types"


def _struct(sql: SqlType, next_id: NextId) -> ice.IcebergType:
    if not sql.fields:
        raise InvalidArgument("STRUCT needs at least one field: STRUCT(a BIGINT)")
    unique_names((f.name for f in sql.fields), "a STRUCT")
    ids = [next_id() for _ in sql.fields]
    return ice.StructType(
        *(
            ice.NestedField(i, f.name, iceberg_type(f.type, next_id), required=not f.nullable, doc=f.comment)
            for i, f in zip(ids, sql.fields, strict=True)
        )
    )


def _decimal(sql: SqlType) -> ice.IcebergType:
    given = _numbers(sql, most=2) or (38, 10)
    precision, scale = given if len(given) == 2 else (given[0], 0)
    if not 1 <= precision <= 38:
        raise InvalidArgument(f"{sql.name}({precision},{scale}): the precision must be from 1 to 38")
    if not 0 <= scale <= precision:
        raise InvalidArgument(f"{sql.name}({precision},{scale}): the scale must be from 0 to the precision {precision}")
    return ice.DecimalType(precision, scale)


def _float(sql: SqlType) -> ice.IcebergType:
    bits = next(iter(_numbers(sql, most=1)), 24)
    if not 1 <= bits <= 53:
        raise InvalidArgument(f"FLOAT({bits}): the precision must be from 1 to 53 bits")
    return ice.FloatType() if bits <= 24 else ice.DoubleType()


def _digits(sql: SqlType, most: int) -> int:
    """Returns the digits after the second; 6 when they are not given."""
    digits = next(iter(_numbers(sql, most=1)), 6)
    if not 0 <= digits <= most:
        raise InvalidArgument(f"{sql.name}({digits}): the precision must be from 0 to {most}")
    return digits


def _length(sql: SqlType) -> int | None:
    length = next(iter(_numbers(sql, most=1)), None)
    if length is not None and length < 1:
        raise InvalidArgument(f"{sql.name}({length}): the length must be at least 1")
    return length


def _numbers(sql: SqlType, most: int) -> tuple[int, ...]:
    """Returns the numeric parameters, at most `most`; raises if a parameter is a type."""
    if len(sql.params) > most or sql.items or sql.fields:
        takes = {0: "no parameter", 1: "at most one number", 2: "at most two numbers"}[most]
        given = listing(map(str, (*sql.params, *(i.name for i in sql.items), *(f.name for f in sql.fields))))
        raise InvalidArgument(f"{sql.name} takes {takes}, but was given ({given})")
    return sql.params


# --- Iceberg to SQL ----------------------------------------------------------------------------------------------

_NAMES: dict[type[ice.IcebergType], str] = {
    ice.BooleanType: "boolean",
    ice.IntegerType: "integer",
    ice.LongType: "bigint",
    ice.FloatType: "real",
    ice.DoubleType: "double",
    ice.DateType: "date",
    ice.TimeType: "time(6)",
    ice.TimestampType: "timestamp(6)",
    ice.TimestamptzType: "timestamp(6) with time zone",
    ice.TimestampNanoType: "timestamp(9)",
    ice.TimestamptzNanoType: "timestamp(9) with time zone",
    ice.StringType: "varchar",
    ice.UUIDType: "uuid",
    ice.BinaryType: "varbinary",
    ice.UnknownType: "unknown",
    ice.GeometryType: "geometry",
    ice.GeographyType: "geography",
    VariantType: "variant",
}


def sql_name(t: ice.IcebergType) -> str:
    """Returns the SQL name of an Iceberg type, in a form that `iceberg_type` accepts."""
    match t:
        case ice.DecimalType():
            return f"decimal({t.precision},{t.scale})"
        case ice.FixedType():
            return f"binary({len(t)})"
        case ice.StructType():
            return "row(" + ", ".join(f"{spell(f.name)} {sql_name(f.field_type)}" for f in t.fields) + ")"
        case ice.ListType():
            return f"array({sql_name(t.element_type)})"
        case ice.MapType():
            return f"map({sql_name(t.key_type)}, {sql_name(t.value_type)})"
    name = _NAMES.get(type(t))
    if name is None:
        raise InternalError(f"no SQL name is known for Iceberg's {t}")
    return name
