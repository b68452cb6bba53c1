"""The sources of add_files and migrate: Parquet files below a directory, or the files of a table of a `files` catalog.

'/data/orders'                     a directory, a file or a pattern
'parquet.`s3://bucket/orders`'     the same in Spark's syntax
'there.orders'                     a table of files
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pinakes.core.catalog import FilesTable
from pinakes.core.errors import InvalidArgument, NotSupportedError
from pinakes.parser.one_name import read_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pinakes.engine.files.paths import File
    from pinakes.engine.statement_context import Execution

_OF_SPARK = re.compile(r"\s*(\w+)\s*\.\s*(?:`(.+)`|\"(.+)\")\s*", re.DOTALL)
_NULL = "__HIVE_DEFAULT_PARTITION__"


def files_in(execution: Execution, source: str) -> list[File]:
    """Returns the files that the user may read."""
    found = _OF_SPARK.fullmatch(source)
    path = (found[2] or found[3]) if found is not None else None
    if found is not None and path is not None and ("/" in path or found[1].lower() in ("parquet", "orc", "avro")):
        _check_format(found[1].lower(), source)
        return execution.finder().files([path], "parquet")
    if "/" in source:
        return execution.finder().files([source.strip()], "parquet")
    return _of_table(execution, source)


def _of_table(execution: Execution, source: str) -> list[File]:
    place = execution.resolver.find(read_name(source), kind="TABLE")
    table = execution.resolver.load(place)
    if not isinstance(table, FilesTable):
        raise InvalidArgument(
            f"{place} is not a table of files: give a table of a catalog of type files, "
            "or a path such as '/data/orders'"
        )
    _check_format(table.format, str(place))
    finder, directory = execution.finder(), table.directory
    return [finder.listed(p, Path(p).relative_to(directory).parts[:-1] if directory else ()) for p in table.paths]


def _check_format(format: str, what: str) -> None:
    if format != "parquet":
        raise NotSupportedError(f"{what} is of format {format}, and only Parquet files can be taken in as they are")


def directory_values(file: File) -> dict[str, str | None]:
    """Returns the partition values in directory names such as `day=2024-01-31`."""
    pairs = [part.partition("=") for part in file.below if "=" in part and not part.startswith("=")]
    return {unquote(key): None if value == _NULL else unquote(value) for key, _, value in pairs}


def chosen(files: list[File], wanted: Mapping[str, str]) -> list[File]:
    """Returns the files whose directories have these partition values."""
    if not wanted:
        return files
    known = {key for file in files for key in directory_values(file)}
    unknown = [key for key in wanted if key not in known]
    if unknown:
        raise InvalidArgument(
            f"partition_filter: the files are not divided by {unknown[0]!r}; they are by: "
            f"{', '.join(sorted(known)) or 'nothing'}"
        )
    return [f for f in files if all(directory_values(f).get(key) == value for key, value in wanted.items())]
