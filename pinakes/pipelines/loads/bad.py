"""Bad records, as rows of the bad-records table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pinakes.pipelines.loads import shape
from pinakes.pipelines.loads.lines import URI, numbered
from pinakes.pipelines.loads.reading import Reading
from pinakes.pipelines.loads.shape import Column

if TYPE_CHECKING:
    from pinakes.spark.dataframes import SparkSession

BAD_COLUMNS = (
    "file STRING COMMENT 'The file that the record is in', "
    "line BIGINT COMMENT 'Its line, where that is known', "
    "record STRING COMMENT 'The record as it is written', "
    "reason STRING COMMENT 'Why it was not loaded', "
    "batch STRING COMMENT 'As in pinakes_pipeline.loads', "
    "run_id STRING COMMENT 'The run of the pipeline', "
    "at TIMESTAMP COMMENT 'When it was kept'"
)
_SHAPE = "file STRING, line BIGINT, record STRING, reason STRING"


def bad_frame(spark: SparkSession, reading: Reading, columns: Sequence[Column]) -> Any:
    """Returns the bad records of a reading, and one row per unreadable file."""
    whole = [(u.path, None, None, u.reason) for u in reading.unreadable]
    files = spark.createDataFrame(whole, _SHAPE)
    frame = reading.frame(columns)
    if frame is None:
        return files
    records = frame.filter(f"{shape.REASON} IS NOT NULL").selectExpr(
        f"{URI.format(shape.FILE)} AS uri", f"{shape.RAW} AS record", f"{shape.REASON} AS reason"
    )
    return _named(spark, numbered(records, reading.lines()), reading).unionAll(files)


def _named(spark: SparkSession, records: Any, reading: Reading) -> Any:
    """Replaces the URIs of copied files by the paths that the user gave."""
    copied = [(entry.uri, entry.path) for entry in reading.inputs if entry.is_copied]
    if not copied:
        return records.selectExpr("substring(uri, 8) AS file", "line", "record", "reason")
    from pinakes.spark.dataframes import functions

    names = functions.broadcast(spark.createDataFrame(copied, "uri STRING, path STRING"))
    known = records.join(names, "uri", "left")
    return known.selectExpr("coalesce(path, substring(uri, 8)) AS file", "line", "record", "reason")
