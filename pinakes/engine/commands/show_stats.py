"""SHOW STATS FOR table: what an Iceberg table's metadata tells of its rows and columns. No data file is read."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.catalog import IcebergTable
from pinakes.core.errors import NotSupportedError
from pinakes.core.names import Name, text_literal
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.contexts import world_of
from pinakes.parser.statements import ShowStats
from pinakes.system_tables.base import Request
from pinakes.system_tables.iceberg_metadata import inside
from pinakes.system_tables.table_statistics import statistics_of

_SCHEMA = pa.schema(
    [
        ("column_name", pa.string()),
        ("data_size", pa.float64()),
        ("distinct_values_count", pa.float64()),
        ("nulls_fraction", pa.float64()),
        ("row_count", pa.float64()),
        ("low_value", pa.string()),
        ("high_value", pa.string()),
    ]
)


def show_stats(statement: ShowStats, execution: Execution) -> Result:
    catalog, table = _table(statement.table, execution)
    request = Request(world_of(execution, catalog), frozenset())
    return Result.rows(_SCHEMA, statistics_of(inside(request, table)))


def _table(name: Name, execution: Execution) -> tuple[str, IcebergTable]:
    resolver = execution.resolver
    if name.is_path:
        raise _no_statistics(text_literal(name.last.text))
    if resolver.temporary(name) is not None:
        raise _no_statistics(name)
    found = resolver.find(name)
    loaded = resolver.load(found)
    if not isinstance(loaded, IcebergTable):
        raise _no_statistics(found)
    return found.place.mount.name, loaded


def _no_statistics(what: object) -> NotSupportedError:
    return NotSupportedError(
        f"SHOW STATS tells what the metadata of an Iceberg table says, and {what} is none. "
        f"SUMMARIZE {what} reads its rows instead."
    )
