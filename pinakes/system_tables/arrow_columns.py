"""The columns of a loaded table or view as an Arrow schema: the schema of a query of it. For drivers, which request
tables with their schemas; `described.py` has the same columns with SQL types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.catalog import FilesTable, IcebergTable, ViewDefinition, VirtualTable
from pinakes.core.worker_tables import WorkerTable
from pinakes.system_tables.described import columns_of, view_schema

if TYPE_CHECKING:
    from pinakes.system_tables.context import SystemContext
    from pinakes.system_tables.described import ColumnFacts
    from pinakes.system_tables.loading import Described


def arrow_columns(described: Described, context: SystemContext, zone: str) -> list[tuple[pa.Field, ColumnFacts]]:
    """Returns each column with its SQL facts; none if the columns can't be determined."""
    facts = columns_of(described, context)
    fields = _fields(described, context, zone) if facts else []
    return list(zip(fields, facts, strict=True))


def _fields(described: Described, context: SystemContext, zone: str) -> list[pa.Field]:
    from pinakes.core.iceberg_arrow import arrow_schema_of

    loaded = described.loaded
    match loaded:
        case IcebergTable():
            return list(arrow_schema_of(loaded.handle.schema(), zone))
        case ViewDefinition():
            if loaded.schema is None:
                return view_schema(described, context)
            return [field.with_nullable(True) for field in arrow_schema_of(loaded.schema, zone)]
        case VirtualTable():
            return [pa.field(c.name, c.type) for c in loaded.columns]
        case WorkerTable():
            return [pa.field(f.name, f.type, f.name not in loaded.required) for f in loaded.schema]
        case FilesTable():
            return list(context.files_schema(loaded))  # `columns_of` has just read it, within the timeout of a call
