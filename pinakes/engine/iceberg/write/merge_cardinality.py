"""The error for a target row that several source rows would change; it names the row."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from pinakes.core.errors import ExecutionError
from pinakes.core.names import quote, spell
from pinakes.core.output.value_format import as_text, plain
from pinakes.engine.iceberg.scan.dataset import FILE, ROW
from pinakes.engine.iceberg.write.rewrite import TARGET, Rewrite, column_list

MOST_SHOWN = 3
"""The number of columns to show if the condition does not name key columns."""


def check_once(rows: pa.Table, change: Rewrite, on: str) -> None:
    """Fails if a row position occurs more than once."""
    counted = rows.group_by([FILE, ROW]).aggregate([([], "count_all")])
    if counted.num_rows == rows.num_rows:
        return
    several = counted.filter(pc.greater(counted.column("count_all"), 1))
    raise ExecutionError(
        f"a row of {change.found} is matched by more than one row of the source: the one with "
        f"{_shown(change, on, several)}. Make the source unique, or narrow the condition."
    )


def _shown(change: Rewrite, on: str, places: pa.Table) -> str:
    """Returns the key values of the first of these rows."""
    first = sorted(zip(places.column(FILE).to_pylist(), places.column(ROW).to_pylist(), strict=True))[0]
    columns = _key_columns(change, on)
    where = " AND ".join(f"{quote(TARGET)}.{quote(c)} = {n}" for c, n in zip((FILE, ROW), first, strict=True))
    sql = f"SELECT {column_list(TARGET, columns)} FROM {change.sql} WHERE {where}"
    row = change.execution.collect(change.planner.plan(sql, change.statement))
    return ", ".join(f"{spell(c)} = {as_text(plain(row.column(i).combine_chunks())[0])}" for i, c in enumerate(columns))


def _key_columns(change: Rewrite, on: str) -> list[str]:
    named = [c for c in change.columns if re.search(rf"(?<![\w]){re.escape(quote(TARGET))}\.{_spelled(c)}", on)]
    return named or change.columns[:MOST_SHOWN]


def _spelled(column: str) -> str:
    return f"(?:{re.escape(quote(column))}|{re.escape(column)}(?![\\w]))"
