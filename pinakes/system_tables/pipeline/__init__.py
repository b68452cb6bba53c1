"""system.pipeline: runs of pipelines, as they are recorded in the catalogs that they fill (`pipeline_records.py`)."""

TABLES: tuple[str, ...] = (
    "expectations",
    "lineage",
    "runs",
    "tables",
)
