"""The cache of schemas and statistics from Parquet footers, in the form that scans use.

DataFusion caches the footers of the files that it reads itself, per session; its limits come from the same section of
the configuration (`engine/datafusion/session_config.py`).
"""

from __future__ import annotations

from typing import ClassVar

from pinakes.caches.by_file import FileCache


class FooterCache(FileCache):
    NAME: ClassVar[str] = "footers"
