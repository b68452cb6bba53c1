"""system.pipeline.expectations: one row per expectation of a table in a run, with the number of rows that met it."""

from __future__ import annotations

from pinakes.system_tables.pipeline_records import record_table

TABLE = record_table(
    "expectations", "One row per expectation of each table of a run, with the number of rows that passed and failed."
)
