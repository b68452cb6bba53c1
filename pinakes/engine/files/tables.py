"""Files of one format, opened for DataFusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinakes.engine.files.opened import Opened
from pinakes.engine.files.options import file_options
from pinakes.engine.files.paths import File


def opened(files: list[File], format: str, given: Mapping[str, Any], zone: str, what: str) -> Opened:
    options = file_options(format, given, what or f"read_{format}")
    match format:
        case "parquet":
            from pinakes.engine.files.parquet import open_parquet

            return open_parquet(files, options, zone)
        case "csv":
            from pinakes.engine.files.csv_tables import open_csv

            return open_csv(files, options, zone, what)
        case "json":
            from pinakes.engine.files.json import open_json

            return open_json(files, options, zone, what)
        case _:
            from pinakes.engine.files.arrow import open_arrow

            return open_arrow(files, options, zone)
