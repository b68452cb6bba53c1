"""rewrite_data_files(table, [strategy], [sort_order], [options], [where], [dry_run]): compacts small files.

As in Iceberg: `strategy` is binpack or sort, `sort_order` is the order ('day, id DESC NULLS LAST'), `options` select
files (`maintenance/options.py`), and `where` skips files that cannot match. `dry_run` only returns the counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.engine.iceberg.maintenance.choosing import groups
from pinakes.engine.iceberg.maintenance.compact import Compacted, compact
from pinakes.engine.iceberg.maintenance.options import Choice
from pinakes.engine.iceberg.maintenance.target import candidates, changing
from pinakes.engine.iceberg.write.definition import sorting
from pinakes.engine.iceberg.write.sort_order import order_of
from pinakes.engine.procedures.base import DRY_RUN, TABLE, Parameter, Procedure, Rows, Work
from pinakes.parser.one_name import read_sort_terms

if TYPE_CHECKING:
    from pyiceberg.table.sorting import SortOrder

    from pinakes.engine.binding.namespaces import ResolvedTable
    from pinakes.engine.statement_context import Execution

COLUMNS = pa.schema(
    [
        ("rewritten_data_files_count", pa.int32()),
        ("added_data_files_count", pa.int32()),
        ("rewritten_bytes_count", pa.int64()),
        ("failed_data_files_count", pa.int32()),
        ("removed_delete_files_count", pa.int32()),
    ]
)


def _run(work: Work) -> Rows:
    properties = work.table.handle.properties
    choice = Choice.of(work["options"] or {}, properties)
    order = _order(work)
    done = rewritten(work.execution, work.found, choice, work["where"], order, dry=bool(work["dry_run"]))
    return [row_of(done)]


def rewritten(
    execution: Execution, found: ResolvedTable, choice: Choice, where: str | None, order: SortOrder | None, *, dry: bool
) -> Compacted:
    change = changing(execution, found, where)
    spec = change.table.handle.metadata.default_spec_id
    chosen = groups(change.files, candidates(change), choice, spec)
    if dry:
        numbers = [number for group in chosen for number in group]
        return Compacted(len(numbers), 0, sum(change.files.sizes[n] for n in numbers))
    return compact(change, chosen, choice, order)


def row_of(done: Compacted) -> tuple[int, ...]:
    return done.rewritten, done.added, done.rewritten_bytes, 0, done.deletes


def _order(work: Work) -> SortOrder | None:
    """Returns the requested order; None for the table's own."""
    strategy, wanted_order = (
        (work["strategy"] or ("sort" if work["sort_order"] else "binpack")).lower(),
        work["sort_order"],
    )
    if strategy not in ("binpack", "sort"):
        raise InvalidArgument(f"there is no strategy {strategy!r}; available: binpack, sort")
    if strategy == "binpack" and wanted_order is not None:
        raise InvalidArgument("a sort_order needs the strategy 'sort'")
    if wanted_order is None:
        if strategy == "sort" and order_of(work.table.handle.metadata) is None:
            raise InvalidArgument(
                f"{work.found} has no order to sort by: give a sort_order, or ALTER TABLE … WRITE ORDERED BY …"
            )
        return None
    if wanted_order.lower().replace(" ", "").startswith("zorder("):
        raise NotSupportedError("zorder(…) is for Spark: SET engine = 'spark', or name columns to sort by")
    return sorting(read_sort_terms(wanted_order), work.table.handle.schema())


PROCEDURE = Procedure(
    "rewrite_data_files",
    (
        TABLE,
        Parameter("strategy", "text"),
        Parameter("sort_order", "text"),
        Parameter("options", "options"),
        Parameter("where", "condition"),
        DRY_RUN,
    ),
    COLUMNS,
    _run,
    on_remote_engine="large",
    in_transactions=False,
)
