"""One relation as dbt's docs have it, made of the rows that the catalog query gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata

if TYPE_CHECKING:
    import agate

__all__ = ["CatalogTable", "catalog_table"]


def catalog_table(rows: agate.Table) -> CatalogTable | None:
    """Each row is a column, with its table beside it."""
    if not rows.rows:
        return None
    first = rows.rows[0]
    metadata = TableMetadata(
        type=first["table_type"],
        schema=first["table_schema"],
        name=first["table_name"],
        database=first["table_database"],
        comment=first["table_comment"],
        owner=None,
    )
    return CatalogTable(metadata=metadata, columns={row["column_name"]: _column(row) for row in rows.rows}, stats={})


def _column(row: Any) -> ColumnMetadata:
    return ColumnMetadata(
        type=row["column_type"],
        index=int(row["column_index"]),
        name=row["column_name"],
        comment=row["column_comment"],
    )
