"""A column type as written in SQL, as a tree. `core/types/sql.py` converts it to Iceberg's and Arrow's types."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SqlField:
    """A member of a STRUCT."""

    name: str
    type: SqlType
    nullable: bool = True
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class SqlType:
    """`name` is upper case and without parameters (DECIMAL, TIMESTAMP, `TIMESTAMP WITH TIME ZONE`, ARRAY, MAP, STRUCT).

    `params` are its numbers, `items` the element type of an ARRAY or key and value of a MAP, `fields` a STRUCT's.
    """

    name: str
    params: tuple[int, ...] = ()
    items: tuple[SqlType, ...] = ()
    fields: tuple[SqlField, ...] = ()
