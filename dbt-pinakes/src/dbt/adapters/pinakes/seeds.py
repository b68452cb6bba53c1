"""Seeds: what dbt read from a CSV file, as an Arrow table that can be sent in one stream."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import agate


def arrow_table(rows: agate.Table) -> pa.Table:
    """Columns by their position: names may differ in case only, which the table they go to decides about."""
    columns = [_column(column) for column in rows.columns]
    return pa.table(columns, names=[f"c{position}" for position in range(len(columns))])


def _column(column: agate.Column) -> pa.Array:
    import agate as library
    from dbt_common.clients.agate_helper import Integer

    values = list(column.values())
    match column.data_type:
        case Integer():
            return pa.array([None if value is None else int(value) for value in values], pa.int64())
        case library.Number():
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        case library.Boolean():
            return pa.array(values, pa.bool_())
        case library.DateTime():
            return pa.array([None if value is None else _naive(value) for value in values], pa.timestamp("us"))
        case library.Date():
            return pa.array(values, pa.date32())
        case _:
            return pa.array([None if value is None else str(value) for value in values], pa.string())


def _naive(moment: datetime) -> datetime:
    """A seed's times have no zone; one that has one is told in UTC."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
