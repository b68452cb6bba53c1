"""The order of a primary key's columns. Iceberg has identifier fields for them, which are a set: catalogs and other
engines write them in any order. So the declared order is kept in a property of the table, by the names of the columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.schema import Schema

PROPERTY = "pinakes.primary-key"


def primary_key(schema: Schema, properties: Mapping[str, str]) -> list[str]:
    """The columns of a table's key in the order they were declared in, as far as that is known."""
    names = [schema.find_column_name(number) or "" for number in schema.identifier_field_ids]
    declared = _declared(properties)
    if len(declared) != len(names):  # another engine has set another key
        return names
    renamed = iter([name for name in names if name not in declared])
    return [name if name in names else next(renamed, name) for name in declared]


def key_properties(names: Sequence[str]) -> dict[str, str]:
    """What is kept of a declared key: nothing of a single column."""
    return {PROPERTY: json.dumps(list(names), ensure_ascii=False)} if len(names) > 1 else {}


def renamed_key(properties: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """What is to be kept once a column has another name."""
    declared = _declared(properties)
    return key_properties([new if name == old else name for name in declared]) if old in declared else {}


def _declared(properties: Mapping[str, str]) -> list[str]:
    """Others may have written anything into it."""
    try:
        found = json.loads(properties.get(PROPERTY, "[]"))
    except ValueError:
        return []
    is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
    return found if is_list and len(set(found)) == len(found) else []
