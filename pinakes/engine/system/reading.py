"""Reads the rows of a system table for one statement, planned or not. Metadata errors become warnings of the
session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinakes.engine.system.contexts import context_of
from pinakes.system_tables.base import Request, SystemTable
from pinakes.system_tables.name_predicates import ANYTHING, NamePredicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from pinakes.engine.statement_context import Execution
    from pinakes.system_tables.catalog_metadata.errors import Fault


def read(
    table: SystemTable[Any],
    execution: Execution,
    of: str | None = None,
    *,
    columns: frozenset[str] | None = None,
    wanted: NamePredicate = ANYTHING,
    limit: int | None = None,
) -> pa.Table:
    """Returns the table's rows, for one catalog or for all visible to the session; `columns` None selects all
    columns.
    """
    context = context_of(execution, of)
    columns = frozenset(table.schema.names) if columns is None else columns
    rows = table.read(Request(context, columns, wanted, limit))
    warnings = execution.session.warnings
    if context.failed:
        warnings.append(_fault_text(context.failed))
    warnings.extend(context.notes)
    return rows


def _fault_text(faults: Sequence[Fault]) -> str:
    first = faults[0].message.rstrip(".")
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"not all metadata could be read: {first}{more}. SELECT * FROM system.metadata.errors lists all."
