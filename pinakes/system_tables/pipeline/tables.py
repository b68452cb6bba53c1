"""system.pipeline.tables: one row per table that a run made, or tried to make."""

from __future__ import annotations

from pinakes.system_tables.pipeline_records import record_table

TABLE = record_table("tables", "One row per table of a run.")
