"""The order of a primary key's columns. Iceberg's identifier fields are a set, which catalogs and other engines write
in any order, so a table property stores the declared order by column name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.schema import Schema

PROPERTY = "pinakes.primary-key"


def primary_key(schema: Schema, properties: Mapping[str, str]) -> list[str]:
    """Returns the key columns of a table in their declared order, if it is known."""
    names = [schema.find_column_name(number) or "" for number in schema.identifier_field_ids]
    declared = _declared(properties)
    if len(declared) != len(names):  # another engine has set another key
        return names
    renamed = iter([name for name in names if name not in declared])
    return [name if name in names else next(renamed, name) for name in declared]


def key_properties(names: Sequence[str]) -> dict[str, str]:
    """Returns the property for a declared key; empty for a single column."""
    return {PROPERTY: json.dumps(list(names), ensure_ascii=False)} if len(names) > 1 else {}


def renamed_key(properties: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """Returns the property after a column is renamed."""
    declared = _declared(properties)
    return key_properties([new if name == old else name for name in declared]) if old in declared else {}


def _declared(properties: Mapping[str, str]) -> list[str]:
    """Parses the property, to which other engines may have written any text."""
    try:
        found = json.loads(properties.get(PROPERTY, "[]"))
    except ValueError:
        return []
    is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
    return found if is_list and len(set(found)) == len(found) else []
