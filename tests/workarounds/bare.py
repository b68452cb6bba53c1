"""DataFusion by itself, over a few rows."""

from __future__ import annotations

from typing import Any

from datafusion import SessionContext

TABLES = (
    "CREATE TABLE a AS SELECT * FROM (VALUES (1, 1, 10, 'u'), (2, 2, NULL, 'v'), (3, NULL, 30, NULL), (4, 1, 10, 'u'), "
    "(5, 5, 7, 'w'), (6, NULL, NULL, 'u')) AS v(id, k, x, s)",
    "CREATE TABLE b AS SELECT * FROM (VALUES (1, 1, 10), (2, 2, NULL), (3, NULL, 30), (7, 1, 8), (8, 9, 7)) "
    "AS v(id, k, y)",
    "CREATE TABLE none (id INT)",
    "CREATE TABLE f AS SELECT * FROM (VALUES (1, 0e0), (2, -0e0), (3, 1.5e0)) AS v(id, d)",
)


def answer(sql: str) -> list[tuple[Any, ...]]:
    """The rows that DataFusion gives without anything of ours, in an order of their own."""
    context = SessionContext()
    for table in TABLES:
        context.sql(table).collect()
    found = context.sql(sql).to_arrow_table()
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)
