"""The tables that record pipeline runs, in the schema `pinakes_pipeline` of the target catalog.

`pipeline/runs/records.py` writes them and `system_tables/pipeline` shows them.
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
    Field("table_catalog", "TEXT", "Catalog of the table that was made"),
    Field("table_schema", "TEXT", "Schema of the table"),
    Field("table_name", "TEXT", "Name of the table"),
)

RECORDS: Mapping[str, tuple[Field, ...]] = {
    "runs": (
        *_RUN,
        Field("state", "TEXT", "RUNNING, COMPLETED, FAILED, CANCELED, or INTERRUPTED: its process ended before it did"),
        Field("started_at", "MOMENT", "When it began"),
        Field("ended_at", "MOMENT", "When it ended; NULL while it runs"),
        Field("user_name", "TEXT", "Who started it"),
        Field("host", "TEXT", "Machine that it ran on"),
        Field("process", "TEXT", "Process that ran it, and when that began"),
        Field("spec", "TEXT", "File that describes the pipeline"),
        Field("options", "TEXT", "What was asked for: tables that were selected, or made anew"),
        Field("error", "TEXT", "Why it failed; NULL if it did not"),
    ),
    "tables": (
        *_TABLE,
        Field("kind", "TEXT", "materialized_view, table (incremental) or load"),
        Field("state", "TEXT", "COMPLETED, UNCHANGED (there was nothing to do), FAILED, CANCELED or SKIPPED"),
        Field("started_at", "MOMENT", "When it was begun"),
        Field("ended_at", "MOMENT", "When it was done"),
        Field("rows", "NUMBER", "Rows that were written"),
        Field("bad_rows", "NUMBER", "Records of a load that did not fit, and are kept apart"),
        Field("files", "NUMBER", "Data files that were written; of a load, files that were read"),
        Field("snapshot_id", "NUMBER", "Snapshot of the table that this made"),
        Field("definition", "TEXT", "Fingerprint of what the project says of the table"),
        Field("file", "TEXT", "File and line that define it"),
        Field("error", "TEXT", "Why it failed, or was skipped"),
    ),
    "expectations": (
        *_TABLE,
        Field("expectation", "TEXT", "Name of the expectation"),
        Field("predicate", "TEXT", "Condition that rows are to meet"),
        Field("action", "TEXT", "What happens to rows that do not: warn, drop or fail"),
        Field("passed_rows", "NUMBER", "Rows that met it"),
        Field("failed_rows", "NUMBER", "Rows that did not"),
        Field("recorded_at", "MOMENT", "When it was recorded"),
    ),
    "lineage": (
        *_TABLE,
        Field("flow", "TEXT", "Query that read the source"),
        Field("source_kind", "TEXT", "table, files or jdbc"),
        Field("source_catalog", "TEXT", "Catalog of the source; NULL if it is no table"),
        Field("source_schema", "TEXT", "Schema of the source"),
        Field("source_name", "TEXT", "Name of the source, or where its files are"),
        Field("from_snapshot_id", "NUMBER", "Snapshot after which it was read; NULL if all of it was"),
        Field("snapshot_id", "NUMBER", "Snapshot that was read"),
        Field("recorded_at", "MOMENT", "When it was recorded"),
    ),
}
