"""system.pipeline: runs of pipelines, as recorded in the catalogs that they fill (`pipeline_records.py`). The records
are written by `pipelines/runs`.
"""

TABLES: tuple[str, ...] = (
    "expectations",
    "lineage",
    "runs",
    "tables",
)
