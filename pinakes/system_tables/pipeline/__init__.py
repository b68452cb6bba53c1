"""system.pipeline: runs of pipelines, as recorded in the catalogs that they write to (`pipeline_records.py`)."""

TABLES: tuple[str, ...] = (
    "expectations",
    "lineage",
    "runs",
    "tables",
)
