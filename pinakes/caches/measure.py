"""Estimates of the memory of cached values that do not report it themselves.

The figures were measured with `tracemalloc`; memory that libraries allocate outside Python is a rough estimate.
"""

from __future__ import annotations

import sys

from pinakes.core.catalog import IcebergTable, Table, ViewDefinition

CLIENT = 64_000
"""An open catalog: its connections, its properties, the configuration read from its server."""
NOTHING = 500
"""An entry without a value: its key."""
PLAN = 20_000
"""A plan, or a table as a plan reads it, in addition to its text and columns."""
READ = 2_000
"""Added to a plan for each cache entry that it was made from."""

_TABLE, _SNAPSHOT, _COLUMN, _LOGGED = 6_000, 3_000, 1_250, 300
_PER_CHARACTER = 15
"""For each character of a parsed statement's text."""


def names(value: object) -> int:
    """The size of a listing: strings in tuples."""
    below = sum(names(one) for one in value) if isinstance(value, tuple) else 0
    return sys.getsizeof(value) + below


def statement(text: str) -> int:
    return 1_000 + _PER_CHARACTER * len(text)


def described(found: Table | ViewDefinition) -> int:
    """The size of a table or view as described by its catalog."""
    if isinstance(found, ViewDefinition):
        return _TABLE + len(found.sql) + _COLUMN * (0 if found.schema is None else len(found.schema.fields))
    if not isinstance(found, IcebergTable):
        return _TABLE
    metadata = found.handle.metadata
    columns = sum(len(schema.fields) for schema in metadata.schemas)
    logged = len(metadata.snapshot_log) + len(metadata.metadata_log) + len(metadata.properties)
    return _TABLE + _SNAPSHOT * len(metadata.snapshots) + _COLUMN * columns + _LOGGED * logged
