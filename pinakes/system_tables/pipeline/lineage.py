"""system.pipeline.lineage: one row per source that a run read for a table, with the snapshot that it read."""

from __future__ import annotations

from pinakes.system_tables.pipeline_records import record_table

TABLE = record_table("lineage", "One row per source that a run read for a table, with its snapshot.")
