"""The options of the reader functions and of COPY … FROM: one frozen dataclass per format.

The names are DuckDB's; those of PostgreSQL's COPY are accepted as well. The error for an unknown option lists the known
ones, and the error for an invalid value shows a valid one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

import pyarrow as pa

from pinakes.core.errors import InvalidArgument, ParseError
from pinakes.engine.files.reading.streams import COMPRESSIONS
from pinakes.parser import read_type
from pinakes.providers.options import option, parse_options

SAMPLE_ROWS = 20_480


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """The options of all formats."""

    filename: bool = option("adds the column filename with the path of each row's file", default=False)
    hive_partitioning: bool | None = option(
        "directories named key=value are columns; found out if not given", default=None
    )
    union_by_name: bool = option("files may lack columns that others have", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetOptions(FileOptions):
    """read_parquet"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrowOptions(FileOptions):
    """read_arrow"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroOptions(FileOptions):
    """read_avro"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrcOptions(FileOptions):
    """read_orc"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcelOptions(FileOptions):
    """read_xlsx"""

    sheet: str | None = option("the sheet to read; the first one if not given", default=None)
    header: bool | None = option("whether the first row has names; found out if not given", default=None)
    all_varchar: bool = option("every column is VARCHAR", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOptions(FileOptions):
    """read_json"""

    columns: Mapping[str, str] | None = option(
        "names and types of all columns: {'id': 'BIGINT', 'at': 'TIMESTAMP'}", default=None
    )
    format: str = option("auto, newline_delimited or array", default="auto")
    sample_size: int = option("rows that types are found out from, -1 for all", default=SAMPLE_ROWS)
    ignore_errors: bool = option("skip lines that are not JSON or do not match", default=False)
    compression: str = option("auto, none, gzip, zstd, bz2 or lz4", default="auto")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions(FileOptions):
    """read_csv"""

    header: bool | None = option("whether the first line has names; found out if not given", default=None)
    delim: str | None = option("the character between values; found out if not given", default=None)
    quote: str = option("the character around values, '' for none", default='"')
    escape: str | None = option(
        "the character before a quote within quotes; the quote itself if not given", default=None
    )
    nullstr: str | tuple[str, ...] = option("the text that means NULL, or a list of them", default="")
    columns: Mapping[str, str] | None = option(
        "names and types of all columns: {'id': 'BIGINT', 'at': 'TIMESTAMP'}", default=None
    )
    types: Mapping[str, str] | tuple[str, ...] | None = option(
        "types of some columns, {'id': 'BIGINT'}, or of the first ones, ['BIGINT']", default=None
    )
    names: tuple[str, ...] | None = option("names of the first columns: ['id', 'at']", default=None)
    auto_detect: bool = option("find out what is not given; if false: commas, no header, VARCHAR", default=True)
    all_varchar: bool = option("every column is VARCHAR", default=False)
    skip: int = option("lines to leave out at the beginning", default=0)
    comment: str | None = option("the character that starts a line to leave out", default=None)
    sample_size: int = option("rows that types are found out from, -1 for all", default=SAMPLE_ROWS)
    ignore_errors: bool = option("leave out rows that do not fit", default=False)
    dateformat: str | None = option("the form of dates, as in '%d.%m.%Y'", default=None)
    timestampformat: str | None = option("the form of timestamps, as in '%d.%m.%Y %H:%M:%S'", default=None)
    encoding: str = option("utf-8, latin-1 or another that Python knows", default="utf-8")
    compression: str = option("auto, none, gzip, zstd, bz2 or lz4", default="auto")

    @property
    def nulls(self) -> list[str]:
        return [self.nullstr] if isinstance(self.nullstr, str) else list(self.nullstr)


OPTIONS: Mapping[str, type[FileOptions]] = {
    "parquet": ParquetOptions,
    "csv": CsvOptions,
    "json": JsonOptions,
    "arrow": ArrowOptions,
    "avro": AvroOptions,
    "orc": OrcOptions,
    "excel": ExcelOptions,
}

_ALIASES = {
    **dict.fromkeys(("sep", "delimiter", "separator"), "delim"),
    **dict.fromkeys(("null", "null_string", "na_values"), "nullstr"),
    **dict.fromkeys(("dtypes", "column_types"), "types"),
    "column_names": "names",
    "date_format": "dateformat",
    "timestamp_format": "timestampformat",
}
_TABLES = ("columns", "types", "names", "nullstr")


def file_options(format: str, given: Mapping[str, Any], what: str) -> Any:
    """Parses the options of a format; `what` names the function or statement in errors."""
    cls = OPTIONS[format]
    known = {field.name for field in fields(cls)}
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = _ALIASES.get(key.lower(), key.lower())
        name = name if name in known else key.lower()
        if name in values:
            raise InvalidArgument(f"the option {name} of {what} is given twice")
        values[name] = value
    tables = {
        name: _check_collection(name, values.pop(name), what) for name in _TABLES if name in values and name in known
    }
    options = parse_options(cls, values, what)
    return _check(replace(options, **tables), what)


def _check_collection(name: str, value: Any, what: str) -> Any:
    """Checks a value that is a list or a map."""
    texts = isinstance(value, tuple | list) and all(isinstance(v, str) for v in value)
    typed = isinstance(value, dict) and bool(value) and all(isinstance(v, str) for v in value.values())
    right = {
        "columns": (typed, "names and types, such as {'id': 'BIGINT', 'at': 'TIMESTAMP'}"),
        "types": (typed or texts, "types by name, such as {'id': 'BIGINT'}, or a list of types, such as ['BIGINT']"),
        "names": (texts, "a list of names, such as ['id', 'at']"),
        "nullstr": (texts or isinstance(value, str), "a text, or a list of texts"),
    }
    fits, wanted = right[name]
    if not fits:
        raise InvalidArgument(f"option {name} of {what} must be {wanted}")
    return value


def _check(options: FileOptions, what: str) -> FileOptions:
    match options:
        case CsvOptions():
            _one_character(options, what)
            _compression(options.compression, what)
            _at_least(options.skip, 0, "skip", what)
            _sample(options.sample_size, what)
            _encoding(options.encoding, what)
        case JsonOptions():
            _compression(options.compression, what)
            _sample(options.sample_size, what)
            if options.format not in ("auto", "newline_delimited", "array"):
                raise InvalidArgument(f"option format of {what} must be auto, newline_delimited or array")
    return options


def _one_character(options: CsvOptions, what: str) -> None:
    for name in ("delim", "quote", "escape", "comment"):
        value = getattr(options, name)
        empty = value == "" and name in ("quote", "escape")
        if value is not None and not empty and (len(value) != 1 or not value.isascii() or value in "\r\n\0"):
            raise InvalidArgument(f"option {name} of {what} must be one character of ASCII, such as ';', not {value!r}")
    used = [v for v in (options.delim, options.quote, options.comment) if v]
    if len(set(used)) < len(used):
        raise InvalidArgument(f"delim, quote and comment of {what} must be different characters")


def _compression(value: str, what: str) -> None:
    if value not in COMPRESSIONS:
        raise InvalidArgument(f"option compression of {what} must be one of {', '.join(COMPRESSIONS)}, not {value!r}")


def _sample(value: int, what: str) -> None:
    if value != -1:
        _at_least(value, 1, "sample_size", what)


def _at_least(value: int, least: int, name: str, what: str) -> None:
    if value < least:
        raise InvalidArgument(f"option {name} of {what} must be at least {least}, not {value}")


def _encoding(value: str, what: str) -> None:
    import codecs

    try:
        codecs.lookup(value)
    except LookupError:
        raise InvalidArgument(
            f"option encoding of {what}: there is no encoding {value!r}; try utf-8 or latin-1"
        ) from None


# --- types in options --------------------------------------------------------------------------------------------


def arrow_type(text: str, zone: str, what: str) -> pa.DataType:
    """Parses a type such as `DECIMAL(10, 2)`; the types of CREATE TABLE are supported."""
    from pinakes.core.types.sql import arrow_type_of, iceberg_type  # loads pyiceberg

    try:
        parsed = read_type(text)
    except ParseError as error:
        raise InvalidArgument(f"{text!r} in the options of {what} is not a type: {error.message}") from error
    ids = count(1)
    return arrow_type_of(iceberg_type(parsed, lambda: next(ids)), zone)
