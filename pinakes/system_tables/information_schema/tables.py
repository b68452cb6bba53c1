"""information_schema.tables: one row per table and view. It has only names, so a full scan loads no table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, chain

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable
from pinakes.system_tables.catalog_metadata.listing import Kind, kinds_of, list_objects, list_runs
from pinakes.system_tables.name_columns import Row, name_columns

TYPES: dict[Kind, str] = {"TABLE": "BASE TABLE", "VIEW": "VIEW", "SYSTEM": "SYSTEM VIEW"}


def type_of(row: Row) -> str:
    return TYPES[row.kind]


def _rows(request: Request) -> Iterator[Row]:
    return list_objects(request, kinds_of(request, TYPES))


def _arrays(request: Request) -> Iterator[dict[str, pa.Array]]:
    """Returns all rows as arrays: an object for each row would take most of the time."""
    found = [run for run in list_runs(request, kinds_of(request, TYPES)) if run.names]
    if found:
        ends = list(accumulate(len(run.names) for run in found))
        yield {
            "table_catalog": _repeated((run.space.catalog for run in found), ends),
            "table_schema": _repeated((run.space.schema for run in found), ends),
            "table_name": pa.array(list(chain.from_iterable(run.names for run in found)), TEXT),
            "table_type": _repeated((TYPES[run.kind] for run in found), ends),
        }


def _repeated(values: Iterable[str], ends: list[int]) -> pa.Array:
    """Repeats each value up to the end of its run."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, TEXT))
    return pc.run_end_decode(runs)


TABLE: SystemTable[Row] = SystemTable(
    name="tables",
    doc="One row per table and view that the session sees. Comments are in system.metadata.table_comments.",
    columns=(
        *name_columns("table_catalog", "table_schema", "table_name"),
        Column(
            "table_type",
            TEXT,
            "BASE TABLE, VIEW, or SYSTEM VIEW for a table of the engine's own",
            type_of,
            level="kind",
        ),
    ),
    items=_rows,
    arrays=_arrays,
)
