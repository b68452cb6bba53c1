"""Which line of its file a bad record is in. Spark does not tell when it reads; so the files that have bad records, and
only those, are split into lines once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pinakes.pipeline.loads.inputs import Input

URI = "regexp_replace({}, '^file:/+', 'file:///')"
"""A file as `Input.uri` has it: Spark writes it with one slash."""
_LARGEST, _LARGEST_PACKED = 64 << 20, 4 << 20
"""Bytes of a file that is held as a whole for it, by a task of Spark's."""
_ENDING = r"'\\r?\\n'"


def text_lines(spark: Any, inputs: Sequence[Input], encoding: str | None) -> Any:
    """`uri`, `line` and `text` of each line; None if there are none that could be told."""
    small = [entry.uri for entry in inputs if entry.file.stamp.size <= _limit(entry)]
    if not small or (encoding or "utf-8").lower() not in ("utf-8", "utf8"):
        return None
    read = spark.read.text(small, wholetext=True)
    split = read.selectExpr(f"{URI.format('_metadata.file_path')} AS uri", f"posexplode(split(value, {_ENDING}))")
    return split.selectExpr("uri", "CAST(pos + 1 AS bigint) AS line", "col AS text")


def numbered(records: Any, lines: Any) -> Any:
    """Records (`uri`, `record`, …) with their line. Of equal records of a file, the first is in the first such line."""
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
