"""Line numbers of bad records. Spark does not report them, so the files that contain bad records are split into lines
in a second pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pinakes.pipelines.loads.inputs import Input

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


def numbered(records: Any, lines: Any) -> Any:
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
