"""system.pipeline.runs: one row per run of a pipeline."""

from __future__ import annotations

from pinakes.system_tables.pipeline_records import record_table

TABLE = record_table("runs", "One row per run of a pipeline.")
