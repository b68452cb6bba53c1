"""The options of COPY … TO: a frozen dataclass for the target, and one for each format.

A field is an option of the same name in upper case, with its parser and documentation (`core/values.py`); ALIASES are
alternative names from DuckDB and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from pinakes.core.errors import InvalidArgument, NotSupportedError, OptionNotFound, listing
from pinakes.core.values import documented, one_of, truth, whole

T = TypeVar("T")

FORMATS: Mapping[str, str] = {
    **dict.fromkeys((".parquet", ".pq", ".parq"), "parquet"),
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    ".json": "json",
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
}
"""Formats by file extension."""
PACKED: Mapping[str, str] = {".gz": "gzip", ".zst": "zstd"}
"""Compressions of text formats by last file extension."""
ALIASES: Mapping[str, str] = {
    "DELIM": "DELIMITER",
    "SEP": "DELIMITER",
    "NULLSTR": "NULL",
    "CODEC": "COMPRESSION",
    "PARTITIONED_BY": "PARTITION_BY",
}
LEVELS: Mapping[str, tuple[int, int]] = {"gzip": (1, 9), "zstd": (1, 22), "brotli": (1, 11)}
"""The compressions of Parquet that have levels."""


def _sign(value: object) -> str:
    found = "\t" if value == "\\t" else value
    if not isinstance(found, str) or len(found) != 1 or found in "\r\n\0":
        raise ValueError("one character, and no line break")
    return found


def _any_text(value: object) -> str:
    if not isinstance(value, str) or "\n" in value or "\r" in value:
        raise ValueError("a text without line breaks")
    return value


def _columns(value: object) -> tuple[str, ...]:
    found = value if isinstance(value, tuple) else (value,)
    if not found or not all(isinstance(name, str) and name for name in found):
        raise ValueError("the name of a column, or several in parentheses")
    return found


def _columns_or_all(value: object) -> tuple[str, ...] | None:
    return None if value == "*" else _columns(value)


def _compression(*choices: str) -> Any:
    """Returns a parser that also accepts common aliases."""
    among = one_of(*choices)

    def parse(value: object) -> str:
        word = value.lower() if isinstance(value, str) else value
        return str(among({"uncompressed": "none", "gz": "gzip", "zst": "zstd", "lz4_raw": "lz4"}.get(str(word), word)))

    return parse


@dataclass(frozen=True, slots=True)
class Target:
    """The options of all formats."""

    format: str | None = documented(
        one_of("parquet", "csv", "tsv", "json", "jsonl", "ndjson", "arrow", "feather", "ipc"),
        "Format of the file",
        None,
    )
    partition_by: tuple[str, ...] = documented(_columns, "Columns that become directories", ())
    overwrite: bool | None = documented(truth, "Whether what is there may be replaced", None)
    overwrite_or_ignore: bool = documented(truth, "Write into a directory that has files already", False)
    write_partition_columns: bool = documented(truth, "Keep the columns of PARTITION_BY in the files", False)


@dataclass(frozen=True, slots=True)
class Csv:
    header: bool = documented(truth, "Whether the first line has the names of the columns", True)
    delimiter: str = documented(_sign, "What stands between two cells", ",")
    quote: str = documented(_sign, "What stands around a cell that has to be quoted", '"')
    escape: str | None = documented(_sign, "What stands before a quote within quotes: if not given, a quote", None)
    null: str = documented(_any_text, "How NULL is written", "")
    force_quote: tuple[str, ...] | None = documented(_columns_or_all, "Columns that are always quoted; * is all", ())
    compression: str = documented(_compression("auto", "none", "gzip", "zstd"), "auto goes by the ending", "auto")


@dataclass(frozen=True, slots=True)
class Json:
    array: bool | None = documented(truth, "One array of all rows, or one row per line", None)
    compression: str = documented(_compression("auto", "none", "gzip", "zstd"), "auto goes by the ending", "auto")


@dataclass(frozen=True, slots=True)
class Parquet:
    compression: str = documented(
        _compression("snappy", "zstd", "gzip", "lz4", "brotli", "none"), "Compression of the pages", "snappy"
    )
    compression_level: int | None = documented(whole(1, 22), "How hard zstd, gzip and brotli try", None)
    row_group_size: int = documented(whole(1, 100_000_000), "Rows per row group", 122_880)


@dataclass(frozen=True, slots=True)
class Arrow:
    compression: str = documented(_compression("none", "lz4", "zstd"), "Compression of the buffers", "none")


Format = Csv | Json | Parquet | Arrow
_KINDS: Mapping[str, type[Format]] = {
    "parquet": Parquet, "csv": Csv, "tsv": Csv, "json": Json, "jsonl": Json, "arrow": Arrow,
}  # fmt: skip
_SAME = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow"}


@dataclass(frozen=True, slots=True)
class CopyFormat:
    """The parsed request of a COPY … TO."""

    name: str
    target: Target
    options: Format


def parse_copy(path: str, given: Mapping[str, object]) -> CopyFormat:
    """Parses the format and its options; the file extension provides the defaults."""
    given = _resolve_aliases(given)
    target_keys = {f.name.upper() for f in fields(Target)}
    target = _parse(Target, {k: v for k, v in given.items() if k in target_keys})
    name = _SAME.get(target.format or "", target.format) or _format_of(path)
    kind = _KINDS[name]
    own = {k: v for k, v in given.items() if k not in target_keys}
    _check_known(own, name, kind, target_keys)
    options = _parse(kind, {"DELIMITER": "\t", **own} if name == "tsv" else own)
    _check_together(options, name)
    return CopyFormat(name, target, _with_compression(options, path))


def _with_compression(options: Format, path: str) -> Format:
    """Resolves compression `auto` by the path's extension."""
    if not isinstance(options, Csv | Json) or options.compression != "auto":
        return options
    found = next((codec for ending, codec in PACKED.items() if path.lower().endswith(ending)), "none")
    return replace(options, compression=found)


def _resolve_aliases(given: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in given.items():
        own = ALIASES.get(key, key)
        if own in found:
            raise InvalidArgument(f"option {own} is given twice, once as {key}")
        found[own] = value
    return found


def _format_of(path: str) -> str:
    name = path.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    for ending, found in FORMATS.items():
        if name.endswith(ending):
            return found
    raise InvalidArgument(
        f"the path '{path}' has no extension of a known format ({', '.join(FORMATS)}): "
        f"add (FORMAT parquet), or one of {', '.join(_KINDS)}"
    )


def _check_known(given: Mapping[str, object], name: str, kind: type[Format], common: set[str]) -> None:
    known = {f.name.upper() for f in fields(kind)}
    unknown = [key for key in given if key not in known]
    if unknown:
        raise OptionNotFound(
            f"COPY … TO has no option {unknown[0]} for {name}; available: {listing(known | common, most=30)}"
        )


def _parse(kind: type[T], given: Mapping[str, object]) -> T:
    found: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        key = field.name.upper()
        if key in given:
            try:
                found[field.name] = field.metadata["parse"](given[key])
            except ValueError as error:
                raise InvalidArgument(f"option {key} of COPY must be {error}, not {_show(given[key])}") from None
    return kind(**found)


def _show(value: object) -> str:
    return "NULL" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _check_together(options: Format, name: str) -> None:
    if isinstance(options, Csv) and options.delimiter in (options.quote, options.escape):
        raise InvalidArgument("DELIMITER must differ from QUOTE and from ESCAPE: a reader could not tell them apart")
    if isinstance(options, Json) and name == "jsonl" and options.array:
        raise InvalidArgument("jsonl has one row per line: leave out ARRAY, or use FORMAT json")
    if isinstance(options, Parquet) and options.compression_level is not None:
        least, most = LEVELS.get(options.compression, (1, 0))
        if not least <= options.compression_level <= most:
            raise InvalidArgument(
                f"COMPRESSION {options.compression} has no level {options.compression_level}; levels are: "
                + ", ".join(f"{codec} {a} to {b}" for codec, (a, b) in LEVELS.items())
            )


def refuse_duplicates(names: Sequence[str], format: str) -> None:
    """Fails for duplicate column names."""
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise NotSupportedError(
            f"{format} can't hold two columns of one name: {listing(duplicates)}. Give them different ones with AS."
        )
