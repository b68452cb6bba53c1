"""rewrite_position_delete_files(table, [options], [where], [dry_run]): writes one delete file per data file, and
removes delete files that no longer apply to any. rewrite_data_files removes the deleted rows from the data files
themselves.
"""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.engine.iceberg.maintenance.deletes import rewrite_deletes
from pinakes.engine.iceberg.maintenance.target import candidates, changing
from pinakes.engine.procedures.base import DRY_RUN, TABLE, Parameter, Procedure, Rows, Work

_ALL = "rewrite-all"


def _run(work: Work) -> Rows:
    options = work["options"] or {}
    for key, value in options.items():
        if key != _ALL or value not in ("true", "false"):
            raise InvalidArgument(f"the only option here is '{_ALL}', 'true' or 'false', not {key!r} = {value!r}")
    change = changing(work.execution, work.found, work["where"])
    done = rewrite_deletes(
        change, candidates(change), everything=options.get(_ALL) == "true", dry=bool(work["dry_run"])
    )
    return [(done.replaced, done.added, done.replaced_bytes, done.added_bytes)]


PROCEDURE = Procedure(
    "rewrite_position_delete_files",
    (TABLE, Parameter("options", "options"), Parameter("where", "condition"), DRY_RUN),
    pa.schema(
        [
            ("rewritten_delete_files_count", pa.int32()),
            ("added_delete_files_count", pa.int32()),
            ("rewritten_bytes_count", pa.int64()),
            ("added_bytes_count", pa.int64()),
        ]
    ),
    _run,
    on_remote_engine="large",
    in_transactions=False,
)
