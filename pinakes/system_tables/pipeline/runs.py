"""system.pipeline.runs: one row per run of a pipeline."""

from __future__ import annotations

from pinakes.system_tables.pipeline_records import recorded

TABLE = recorded("runs", "One row per run of a pipeline.")
