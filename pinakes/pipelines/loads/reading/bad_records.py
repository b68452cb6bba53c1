"""Bad records as rows of the bad-records table, and the numbers of their lines.

Spark does not report lines, so the files that contain bad records are split into lines in a second pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pinakes.pipelines.loads.reading import shape
from pinakes.pipelines.loads.reading.inputs import Input
from pinakes.pipelines.loads.reading.interface import Reading
from pinakes.pipelines.loads.reading.shape import Column

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
    return _with_paths(spark, add_line_numbers(records, reading.lines()), reading).unionAll(files)


def _with_paths(spark: SparkSession, records: Any, reading: Reading) -> Any:
    """Replaces the URIs of copied files by the paths that the user gave."""
    copied = [(entry.uri, entry.path) for entry in reading.inputs if entry.is_copied]
    if not copied:
        return records.selectExpr("substring(uri, 8) AS file", "line", "record", "reason")
    from pinakes.spark.dataframes import functions

    names = functions.broadcast(spark.createDataFrame(copied, "uri STRING, path STRING"))
    known = records.join(names, "uri", "left")
    return known.selectExpr("coalesce(path, substring(uri, 8)) AS file", "line", "record", "reason")


# --- line numbers ------------------------------------------------------------------------------------------------


URI = "regexp_replace({}, '^file:/+', 'file:///')"
"""Normalizes a file URI to the form of `Input.uri`: Spark writes it with one slash."""
_LARGEST, _LARGEST_PACKED = 64 << 20, 4 << 20
"""Maximum size of a file for which lines are numbered: a Spark task holds it in memory."""
_ENDING = r"'\\r?\\n'"


def text_lines(spark: Any, inputs: Sequence[Input], encoding: str | None) -> Any:
    """Returns `uri`, `line` and `text` of each line; None if the lines can't be determined."""
    small = [entry.uri for entry in inputs if entry.file.stamp.size <= _limit(entry)]
    if not small or (encoding or "utf-8").lower() not in ("utf-8", "utf8"):
        return None
    read = spark.read.text(small, wholetext=True)
    split = read.selectExpr(f"{URI.format('_metadata.file_path')} AS uri", f"posexplode(split(value, {_ENDING}))")
    return split.selectExpr("uri", "CAST(pos + 1 AS bigint) AS line", "col AS text")


def add_line_numbers(records: Any, lines: Any) -> Any:
    """Adds the line to records (`uri`, `record`, …). Equal records of a file are assigned to their lines in order."""
    if lines is None:
        return records.selectExpr("*", "CAST(NULL AS bigint) AS line")
    mine = records.selectExpr("*", "row_number() OVER (PARTITION BY uri, record ORDER BY reason) AS nth")
    theirs = lines.filter("key IS NOT NULL").selectExpr(
        "uri AS its_uri", "key", "line", "row_number() OVER (PARTITION BY uri, key ORDER BY line) AS its_nth"
    )
    same = (mine["uri"] == theirs["its_uri"]) & (mine["record"] == theirs["key"]) & (mine["nth"] == theirs["its_nth"])
    return mine.join(theirs, same, "left")


def _limit(entry: Input) -> int:
    return _LARGEST_PACKED if entry.file.suffixes[-1:] in ([".gz"], [".bz2"], [".zst"]) else _LARGEST
