"""Parquet files whose statistics lead DataFusion 55 to wrong rows.

From a least and a greatest value that are the same it concludes that a column is constant, and gives that value for
every row. But statistics leave NaN out, and a row group may have none at all, as with long texts.
"""

from __future__ import annotations

import pyarrow.parquet as pq

_FLOATING = ("FLOAT", "DOUBLE")


def may_mislead(footer: pq.FileMetaData) -> bool:
    """Whether a column has one value in its statistics, and there may be others: NaN, which statistics leave out, or
    those of a row group that has none, as with texts that are too long for them. DataFusion takes it for the only one.
    """
    columns = [(i, _is_floating(footer.schema.column(i))) for i in range(footer.num_columns)]
    several = footer.num_row_groups > 1
    return any(_hides_values(footer, i, unknown=floating) for i, floating in columns if floating or several)


def _is_floating(column: pq.ColumnSchema) -> bool:
    return column.physical_type in _FLOATING or column.logical_type.type == "FLOAT16"


def _hides_values(footer: pq.FileMetaData, column: int, *, unknown: bool) -> bool:
    seen: set[object] = set()
    for number in range(footer.num_row_groups):
        found = footer.row_group(number).column(column).statistics
        if found is None or not found.has_min_max:
            unknown = True
            continue
        seen |= {found.min, found.max}
        if len(seen) > 1:
            return False
    return unknown and bool(seen)
