"""Parquet files in which DataFusion overlooks NaN.

Statistics leave NaN out. From a least and a greatest value that are the same, and no NULL, DataFusion 55 concludes that
a column is constant, and gives that one number for NaN, too. Nothing in a file tells whether NaN is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def is_one_valued(path: Path, floating: Sequence[str]) -> bool:
    """Whether one of these columns has the same number as its least and its greatest value, and more than one value."""
    if not floating:
        return False
    footer = pq.read_metadata(str(path))
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    columns = [chunk for group in groups for chunk in (group.column(i) for i in range(group.num_columns))]
    return any(_is_one_valued([c for c in columns if c.path_in_schema == name]) for name in floating)


def _is_one_valued(chunks: Sequence[Any]) -> bool:
    known = [c.statistics for c in chunks if c.is_stats_set and c.statistics.has_min_max]
    bounds = {bound for s in known for bound in (s.min, s.max)}  # 0.0 and -0.0 are one here
    return len(bounds) == 1 and sum(c.num_values for c in chunks) > 1
