"""The tables that record pipeline runs, in the schema `pinakes_pipeline` of the target catalog.

`pipelines/runs/records.py` writes them and `system_tables/pipeline` shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NAMESPACE = ("pinakes_pipeline",)


class Field(NamedTuple):
    name: str
    type: str
    """TEXT, NUMBER, TRUTH or MOMENT."""
    doc: str


_RUN = (
    Field("run_id", "TEXT", "Id of the run"),
    Field("pipeline", "TEXT", "Name of the pipeline"),
)
_TABLE = (
    *_RUN,
    Field("table_catalog", "TEXT", "Catalog of the table"),
    Field("table_schema", "TEXT", "Schema of the table"),
    Field("table_name", "TEXT", "Name of the table"),
)

RECORDS: Mapping[str, tuple[Field, ...]] = {
    "runs": (
        *_RUN,
        Field("state", "TEXT", "RUNNING, COMPLETED, FAILED, CANCELED, or INTERRUPTED if its process died"),
        Field("started_at", "MOMENT", "Start time"),
        Field("ended_at", "MOMENT", "End time; NULL while it is running"),
        Field("user_name", "TEXT", "User who started the run"),
        Field("host", "TEXT", "Host of the run"),
        Field("process", "TEXT", "Process id and start time of the process"),
        Field("spec", "TEXT", "Path of the spec"),
        Field("options", "TEXT", "Options of the run: selected and refreshed tables"),
        Field("error", "TEXT", "Error message; NULL if the run did not fail"),
    ),
    "tables": (
        *_TABLE,
        Field("kind", "TEXT", "materialized_view, table (incremental) or load"),
        Field("state", "TEXT", "COMPLETED, UNCHANGED (no new data), FAILED, CANCELED or SKIPPED"),
        Field("started_at", "MOMENT", "Start time"),
        Field("ended_at", "MOMENT", "End time"),
        Field("rows", "NUMBER", "Number of written rows"),
        Field("bad_rows", "NUMBER", "Number of bad records of a load"),
        Field("files", "NUMBER", "Number of written data files; for a load, number of files read"),
        Field("snapshot_id", "NUMBER", "Snapshot that the run created"),
        Field("definition", "TEXT", "Fingerprint of the definition of the table"),
        Field("file", "TEXT", "File and line of the definition"),
        Field("error", "TEXT", "Reason of a failure or skip"),
    ),
    "expectations": (
        *_TABLE,
        Field("expectation", "TEXT", "Name of the expectation"),
        Field("predicate", "TEXT", "Condition"),
        Field("action", "TEXT", "Action for rows that fail: warn, drop or fail"),
        Field("passed_rows", "NUMBER", "Number of rows that passed"),
        Field("failed_rows", "NUMBER", "Number of rows that failed"),
        Field("recorded_at", "MOMENT", "Time of the record"),
    ),
    "lineage": (
        *_TABLE,
        Field("flow", "TEXT", "Flow that read the source"),
        Field("source_kind", "TEXT", "table, files or jdbc"),
        Field("source_catalog", "TEXT", "Catalog of the source; NULL if the source is not a table"),
        Field("source_schema", "TEXT", "Schema of the source"),
        Field("source_name", "TEXT", "Name of the source, or location of its files"),
        Field("from_snapshot_id", "NUMBER", "Start snapshot (exclusive); NULL if the whole table was read"),
        Field("snapshot_id", "NUMBER", "Snapshot that was read"),
        Field("recorded_at", "MOMENT", "Time of the record"),
    ),
}
