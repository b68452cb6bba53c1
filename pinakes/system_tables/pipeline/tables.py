"""system.pipeline.tables: one row per table that a run made, or tried to make."""

from __future__ import annotations

from pinakes.system_tables.pipeline_records import recorded

TABLE = recorded("tables", "One row per table of a run.")
