"""What Iceberg tables go through: changes of the schema, at any depth, and of the partitioning."""

from __future__ import annotations

from random import Random
from typing import Any

from pyiceberg import types as ice
from pyiceberg.table import Table

from tests.engine.scan_cases import some_type, transforms_of


def evolve(table: Table, r: Random, number: int) -> None:
    """One random change of the schema or the partitioning."""
    fields = [f for f in table.schema().fields if f.name != "id"]
    partitioned = {f.source_id for s in table.metadata.specs().values() for f in s.fields}
    free = [f for f in fields if f.field_id not in partitioned]
    what = r.choice(
        ["add", "rename", "swap", "readd", "readd", "promote", "drop", "move", *["nest"] * 4, "spec", "spec"]
    )
    if what == "spec":
        return _respec(table, r)
    if what == "nest":
        return _evolve_nested(table, r, number)
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
    wider = _wider(f.field_type)
    if wider is not None:
        change.update_column(f.name, wider)


def _wider(t: ice.IcebergType) -> ice.IcebergType | None:
    if isinstance(t, ice.DecimalType) and t.precision < 35:
        return ice.DecimalType(t.precision + 3, t.scale)
    return {ice.IntegerType: ice.LongType(), ice.FloatType: ice.DoubleType()}.get(type(t))  # type: ignore[return-value]


def _evolve_nested(table: Table, r: Random, number: int) -> None:
    """One change within a column."""
    inner = [way for f in table.schema().fields for way in _ways(f.field_type, (f.name,))]
    structs = [(way, t) for way, t in inner if isinstance(t, ice.StructType)]
    with table.update_schema() as change:
        what = r.choice(["add", "rename", "drop", "promote", "promote"])
        if what == "promote":
            for way, t in inner:
                wider = _wider(t)
                if wider is not None and len(way) > 1 and r.random() < 0.7:
                    change.update_column(way, wider)
        elif structs:
            way, t = r.choice(structs)
            names = [f.name for f in t.fields]
            if what == "rename":
                change.rename_column((*way, r.choice(names)), f"m{number}")
            elif what == "drop" and len(names) > 1:
                change.delete_column((*way, r.choice(names)))
            else:
                change.add_column((*way, f"z{number}"), ice.LongType())


def _ways(t: ice.IcebergType, way: tuple[str, ...]) -> list[tuple[tuple[str, ...], ice.IcebergType]]:
    """All that a type consists of, by its names."""
    match t:
        case ice.StructType():
            found = [w for f in t.fields for w in _ways(f.field_type, (*way, f.name))]
        case ice.ListType():
            found = _ways(t.element_type, (*way, "element"))
        case ice.MapType():
            found = _ways(t.value_type, (*way, "value"))
        case _:
            found = []
    return [(way, t), *found]


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
