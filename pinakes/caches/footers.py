"""What was read from the ends of Parquet files: their schemas and statistics, as the scan makes use of them.

DataFusion remembers the footers of the files that it reads itself, in each session; its limits come from the same
section of the configuration (`engine/datafusion/session_config.py`).
"""

from __future__ import annotations

from typing import ClassVar

from pinakes.caches.by_file import FileCache


class FooterCache(FileCache):
    NAME: ClassVar[str] = "footers"
