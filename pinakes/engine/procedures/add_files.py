"""add_files(table, source_table, [partition_filter], [check_duplicate_files], [parallelism]): adds Parquet files to a
table in place. The files are neither copied nor read, and belong to the table afterwards.
"""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.engine.iceberg.maintenance.adopt import adopt
from pinakes.engine.iceberg.maintenance.sources import chosen, files_in
from pinakes.engine.procedures.base import TABLE, Parameter, Procedure, Rows, Work

SOURCE = Parameter("source_table", "text", required=True)
ANSWER = pa.schema([("added_files_count", pa.int64()), ("changed_partition_count", pa.int64())])


def _run(work: Work) -> Rows:
    """Ignores `parallelism`, which is specific to Spark. Duplicate files are always checked."""
    files = chosen(files_in(work.execution, work["source_table"]), work["partition_filter"] or {})
    if not files:
        raise InvalidArgument(f"{work['source_table']} has no files that the partition_filter leaves")
    done = adopt(work.execution, work.found, work.table, files)
    return [(done.files, done.partitions)]


PROCEDURE = Procedure(
    "add_files",
    (
        TABLE,
        SOURCE,
        Parameter("partition_filter", "options"),
        Parameter("check_duplicate_files", "boolean"),
        Parameter("parallelism", "integer"),
    ),
    ANSWER,
    _run,
    in_transactions=False,
)
