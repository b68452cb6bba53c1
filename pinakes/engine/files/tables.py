"""Files as a table: `FROM 'data/*.parquet'`, `FROM read_csv('a.csv', delim => ';')`, tables of a `files` catalog.

A `Reading` is the request: paths, format and options. Its files are found, opened by the module of their format in
`engine/files/reading`, and given to DataFusion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from pinakes.core.catalog import FilesTable
from pinakes.core.errors import InvalidArgument, NotSupportedError, listing
from pinakes.core.file_formats import ENDINGS, format_of
from pinakes.core.names import dotted
from pinakes.engine.files.paths import File, Finder
from pinakes.engine.files.reading.dataset import FilesSource
from pinakes.engine.files.reading.options import file_options
from pinakes.parser.statements import Bound, FileArgument, FileCall, TableCall

FORMATS = ("parquet", "csv", "json", "arrow", "avro", "orc", "excel")


@dataclass(frozen=True, slots=True)
class Reading:
    """A request to read files. Without a format, the file extension decides. `what` names the function in errors."""

    paths: tuple[str, ...]
    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    what: str = ""

    @property
    def key(self) -> str:
        """A short key, equal for equal readings, for use in plans."""
        said = repr((self.format, self.paths, sorted(self.options.items(), key=lambda item: item[0])))
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def reading_of(call: FileCall, parameters: Mapping[int, Any]) -> Reading:
    """Returns the reading of a call; `parameters` are the values of its placeholders, by position in the text."""
    arguments = arguments_of(call, parameters)
    paths = arguments[0] if len(arguments) == 1 else None
    paths = (paths,) if isinstance(paths, str) else tuple(paths) if isinstance(paths, tuple | list) else ()
    if not paths or not all(isinstance(path, str) for path in paths):
        raise InvalidArgument(
            f"{call.name} takes one path or a list of them, as in {call.name}('data/*.{call.format}') or "
            f"{call.name}(['a.{call.format}', 'b.{call.format}']), and then its options by name"
        )
    options = options_of(call, parameters)
    if "NDJSON" in call.name.upper():
        options.setdefault("format", "newline_delimited")
    return Reading(paths, call.format, options, call.name)


def arguments_of(call: TableCall, parameters: Mapping[int, Any]) -> list[Any]:
    """Returns the positional arguments of a call."""
    return [_value(argument, parameters) for argument in call.arguments]


def options_of(call: TableCall, parameters: Mapping[int, Any]) -> dict[str, Any]:
    """Returns the named arguments of a call."""
    return {key: _value(a, parameters) for key, a in call.options}


def _value(argument: FileArgument, parameters: Mapping[int, Any]) -> Any:
    match argument:
        case Bound():
            bound = parameters[argument.span.start]
            return bound.as_py() if isinstance(bound, pa.Scalar) else bound
        case tuple():
            return tuple(_value(a, parameters) for a in argument)
        case dict():
            return {name: _value(a, parameters) for name, a in argument.items()}
    return argument


def open_files(reading: Reading, finder: Finder, zone: str) -> FilesSource:
    """Opens the files of a reading for DataFusion; every error names the file."""
    files = finder.files(reading.paths, reading.format)
    return open_format(files, reading.format or format_of_all(files), reading.options, zone, reading.what)


def format_of_all(files: list[File]) -> str:
    """Returns the format of files that are given by path only."""
    found: dict[str, File] = {}
    for file in files:
        format = format_of(file.path)
        if format is None:
            raise InvalidArgument(
                f"the ending of {file} does not say what is in it; endings: {listing(ENDINGS, 20)}. Say it with a "
                f"function, such as read_csv."
            )
        found.setdefault(format, file)
    if len(found) > 1:
        raise InvalidArgument(f"these are files of several formats ({listing(found)}): read each by itself")
    return next(iter(found))


def open_format(files: list[File], format: str, given: Mapping[str, Any], zone: str, what: str) -> FilesSource:
    options = file_options(format, given, what or f"read_{format}")
    archived = next((file for file in files if file.member is not None), None)
    if archived is not None and format not in ("csv", "json"):
        raise NotSupportedError(f"{archived} is in an archive, of which CSV and JSON files can be read: unpack it")
    match format:
        case "parquet":
            from pinakes.engine.files.reading.parquet import open_parquet

            return open_parquet(files, options, zone)
        case "csv":
            from pinakes.engine.files.reading.csv import open_csv

            return open_csv(files, options, zone, what)
        case "json":
            from pinakes.engine.files.reading.json import open_json

            return open_json(files, options, zone, what)
        case "avro":
            from pinakes.engine.files.reading.avro import open_avro

            return open_avro(files, options, zone)
        case "orc":
            from pinakes.engine.files.reading.orc import open_orc

            return open_orc(files, options, zone)
        case "excel":
            from pinakes.engine.files.reading.excel import open_excel

            return open_excel(files, options)
        case _:
            from pinakes.engine.files.reading.arrow import open_arrow

            return open_arrow(files, options, zone)


# --- tables of a catalog -----------------------------------------------------------------------------------------


def open_table(table: FilesTable, finder: Finder, zone: str) -> FilesSource:
    """Opens a table for DataFusion; every error names the file."""
    files = []
    for path in table.paths:
        below = Path(path).relative_to(table.directory).parts[:-1] if table.directory else ()  # they may be columns
        files.append(finder.listed(path, below))
    partitioned = {"hive_partitioning": True} if any(file.below for file in files) else {}
    what = f"table {dotted((*table.namespace, table.name))}"
    return open_format(files, table.format, {**table.options, **partitioned}, zone, what)
