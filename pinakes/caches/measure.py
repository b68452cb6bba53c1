"""How much memory a remembered thing takes, where it does not tell itself.

The figures are what `tracemalloc` saw of such things in Python; what a library keeps beyond that is a rough share.
"""

from __future__ import annotations

import sys

from pinakes.core.catalog import IcebergTable, Table, ViewDefinition

CLIENT = 64_000
"""An open catalog: its connections, its properties, what it read of its server's configuration."""
NOTHING = 500
"""An entry that tells that there is nothing to keep: its key."""
PLAN = 20_000
"""A plan, or a table as a plan reads it, beside what its text and its columns take."""
READ = 2_000
"""What a plan takes more for each entry that it was made of."""

_TABLE, _SNAPSHOT, _COLUMN, _LOGGED = 6_000, 3_000, 1_250, 300
_PER_CHARACTER = 15
"""Of a parsed statement, for each character of its text."""


def names(value: object) -> int:
    """Of a listing: texts, within tuples."""
    below = sum(names(one) for one in value) if isinstance(value, tuple) else 0
    return sys.getsizeof(value) + below


def statement(text: str) -> int:
    return 1_000 + _PER_CHARACTER * len(text)


def described(found: Table | ViewDefinition) -> int:
    """Of a table or view as its catalog described it."""
    if isinstance(found, ViewDefinition):
        return _TABLE + len(found.sql) + _COLUMN * (0 if found.schema is None else len(found.schema.fields))
    if not isinstance(found, IcebergTable):
        return _TABLE
    metadata = found.handle.metadata
    columns = sum(len(schema.fields) for schema in metadata.schemas)
    logged = len(metadata.snapshot_log) + len(metadata.metadata_log) + len(metadata.properties)
    return _TABLE + _SNAPSHOT * len(metadata.snapshots) + _COLUMN * columns + _LOGGED * logged
