"""migrate(table, source_table, [properties]): converts a directory of Parquet files, or a table of a `files` catalog,
to an Iceberg table in place. The files are not moved, and belong to the new table afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pinakes.engine.iceberg.maintenance.inherit import inherit
from pinakes.engine.iceberg.maintenance.sources import files_in
from pinakes.engine.procedures.add_files import SOURCE
from pinakes.engine.procedures.base import TABLE, MakingProcedure, Parameter, Rows

if TYPE_CHECKING:
    from pinakes.core.names import Name
    from pinakes.engine.statement_context import Execution


def _run(execution: Execution, target: Name, given: dict[str, Any]) -> Rows:
    files = files_in(execution, given["source_table"])
    return [(inherit(execution, target, files, given.get("properties") or {}),)]


PROCEDURE = MakingProcedure(
    "migrate",
    (TABLE, SOURCE, Parameter("properties", "options")),
    pa.schema([("migrated_files_count", pa.int64())]),
    _run,
)
