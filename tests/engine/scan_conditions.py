"""Random conditions and queries on Iceberg tables; their constants are mostly such as a table has."""

from __future__ import annotations

import uuid
from datetime import UTC, date, time
from random import Random
from typing import Any

import pyarrow as pa
from pyiceberg import types as ice
from pyiceberg.schema import Schema

from tests.engine.scan_cases import value

_IN_FUNCTIONS = (
    ice.BooleanType,
    ice.IntegerType,
    ice.LongType,
    ice.FloatType,
    ice.DoubleType,
    ice.DecimalType,
    ice.StringType,
    ice.DateType,
    ice.TimestampType,
)
"""Types whose constants functions take beside a column; DataFusion has no common type for some others."""


def condition(table: pa.Table, schema: Schema, r: Random, depth: int = 2) -> str:
    """SQL that is true, false or NULL of a row."""
    if depth and r.random() < 0.4:
        parts = [condition(table, schema, r, depth - 1) for _ in range(r.randint(2, 3))]
        joined = f" {r.choice(['AND', 'OR'])} ".join(f"({p})" for p in parts)
        return f"NOT ({joined})" if r.random() < 0.2 else joined
    field = r.choice(schema.fields)
    name = '"' + field.name + '"'
    seen = [v for v in table.column(field.name).to_pylist() if v is not None]
    if not field.field_type.is_primitive:
        return _on_nested(name, field.field_type, seen, r)
    if r.random() < 0.1 and isinstance(field.field_type, _IN_FUNCTIONS):
        return _through_function(name, field.field_type, r)
    return _on(name, field.field_type, seen, r)


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
    if kind < 0.45 and (behind := _in_order(name, t, seen, r)):
        return behind
    operator = r.choice(["=", "=", "<", "<=", ">", ">=", "<>"])
    return f"{name} {operator} {constant()}" if r.random() < 0.8 else f"{constant()} {operator} {name}"


def _in_order(name: str, t: ice.IcebergType, seen: list[Any], r: Random) -> str:
    """A column behind a function that keeps its order; "" where there is none for its type."""
    one = r.choice(seen) if seen else None
    operator = r.choice(["<", "<=", ">", ">=", "=", "<>", "IS NOT DISTINCT FROM"])
    match t:
        case ice.TimestampType() | ice.TimestamptzType() if r.random() < 0.5 or one is None:
            day = date(1970, 1, r.randint(1, 20)) if one is None or r.random() < 0.5 else one.date()
            if isinstance(t, ice.TimestamptzType) and operator[0] in "<>":
                operator = "="  # DataFusion 55 may estimate more rows than there are, and fail on that
            return f"CAST({name} AS DATE) {operator} {literal(ice.DateType(), day)}"
        case ice.TimestampType() | ice.TimestamptzType():
            unit = r.choice(["hour", "day", "week", "month", "quarter", "year"])
            return f"date_trunc('{unit}', {name}) {operator} date_trunc('{unit}', {literal(t, one)})"
        case ice.DateType() if seen and all(
            1700 < v.year < 2200 for v in seen
        ):  # DataFusion compares them as nanoseconds
            return f"{name} {operator} TIMESTAMP '{one or date(1970, 1, 2)} 12:00:00'"
        case ice.DecimalType() if t.precision <= 18:  # wider ones may not fit beside so many digits
            return f"{name} {operator} {r.randint(-50, 50)}.{'5'.zfill(t.scale + 1)}"
        case ice.FloatType():
            return f"{name} {operator} {r.randint(-50, 50)}.5"
    return ""


def _on_nested(name: str, t: ice.IcebergType, seen: list[Any], r: Random) -> str:
    leaves = [f for f in t.fields if f.field_type.is_primitive] if isinstance(t, ice.StructType) else []
    if leaves and r.random() < 0.8:
        leaf = r.choice(leaves)
        found = [v[leaf.name] for v in seen if v[leaf.name] is not None]
        return _on(f"{name}['{leaf.name}']", leaf.field_type, found, r)
    return f"{name} IS {r.choice(['', 'NOT '])}NULL"


def _through_function(name: str, t: ice.IcebergType, r: Random) -> str:
    constant = literal(t, _seen(value(t, r, r.randint(-50, 50)), t))
    forms = [
        f"coalesce({name}, {constant}) = {constant}",
        f"CASE WHEN {name} IS NULL THEN id % 2 = 0 ELSE {name} >= {constant} END",
        f"nullif({name}, {constant}) IS NULL",
    ]
    if isinstance(t, ice.StringType):
        forms += [f"upper({name}) > {constant}", f"substr({name}, 1, 2) <= {constant}", f"length({name}) > 3"]
    if isinstance(t, ice.IntegerType | ice.LongType):
        forms += [
            f"{name} % 3 = 1",
            f"CAST({name} AS VARCHAR) LIKE '1%'",
            f"CAST({name} AS DOUBLE) < {r.randint(-9, 9)}",
        ]
    if isinstance(t, ice.DateType | ice.TimestampType):
        forms += [f"extract(year FROM {name}) = 1970", f"extract(month FROM {name}) > 6"]
    return r.choice(forms)


def query(table: pa.Table, schema: Schema, r: Random) -> str:
    """A query whose conditions come to the table {t} from elsewhere."""
    one, other = condition(table, schema, r), condition(table, schema, r)
    plain = [f for f in schema.fields if f.field_type.is_primitive]
    name = '"' + r.choice(plain).name + '"'
    return r.choice(
        [
            f"SELECT id FROM {{t}} WHERE id IN (SELECT id FROM {{t}} WHERE {one}) AND ({other})",
            f"SELECT id FROM {{t}} WHERE id NOT IN (SELECT id FROM {{t}} WHERE {one})",
            f"SELECT a.id FROM {{t}} AS a JOIN (SELECT id FROM {{t}} WHERE {one}) AS b ON a.id = b.id",
            f"SELECT a.id FROM {{t}} AS a JOIN {{t}} AS b ON a.{name} = b.{name} AND a.id = b.id WHERE b.id > 5",
            f"SELECT id FROM {{t}} WHERE id > (SELECT min(id) FROM {{t}} WHERE {one})",
            "SELECT id FROM {t} AS o WHERE EXISTS "
            f"(SELECT 1 FROM {{t}} AS i WHERE i.id = o.id + 1 AND i.{name} > o.{name})",
            f"SELECT id FROM (SELECT * FROM {{t}} WHERE {one}) AS v WHERE {other}",
            f"SELECT id FROM {{t}} WHERE {one} UNION ALL SELECT id FROM {{t}} WHERE {other}",
            f"WITH c AS (SELECT * FROM {{t}} WHERE {one}) SELECT c.id FROM c LEFT JOIN {{t}} AS d ON c.id = d.id",
            f"SELECT count(*) AS id FROM {{t}} WHERE {one}",
            "SELECT count(*) AS id FROM {t}",
            "SELECT max(id) AS id FROM {t}",
        ]
    )


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
