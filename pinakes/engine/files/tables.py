"""Files as a table: `FROM 'data/*.parquet'` and `FROM read_csv('a.csv', delim => ';')`.

The planner passes a `Reading`, whose files are found, opened and given to DataFusion; so does
`engine/commands/copy.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinakes.engine.files.formats import format_of_all
from pinakes.engine.files.opened import Opened
from pinakes.engine.files.options import file_options
from pinakes.engine.files.paths import File, Finder
from pinakes.engine.files.readings import Reading


def open_files(reading: Reading, finder: Finder, zone: str) -> Opened:
    """Opens the files of a reading for DataFusion; every error names the file."""
    files = finder.files(reading.paths, reading.format)
    return opened(files, reading.format or format_of_all(files), reading.options, zone, reading.what)


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
