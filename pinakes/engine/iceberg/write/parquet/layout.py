"""File layout from table properties, or from defaults for fast reads.

The defaults come from measurements with TPC-H (`benchmarks/write.py`): lz4 in row groups of 256k rows is read about ten
percent faster than snappy with 1M rows, for about the same size; zstd is a quarter smaller and as much slower to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyiceberg.table.metadata import TableMetadata

from pinakes.core.errors import InvalidArgument, NotSupportedError

_PARQUET = "write.parquet."
CODEC = f"{_PARQUET}compression-codec"
LEVEL = f"{_PARQUET}compression-level"
BLOOM = f"{_PARQUET}bloom-filter-enabled.column."
BLOOM_ODDS = f"{_PARQUET}bloom-filter-fpp.column."
BLOOM_BYTES = f"{_PARQUET}bloom-filter-max-bytes"
TARGET_SIZE = "write.target-file-size-bytes"
FORMAT = "write.format.default"

MB = 1024 * 1024
CODECS = {
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "brotli": "brotli",
    "uncompressed": "none",
    "none": "none",
}
_WITH_LEVELS = {"zstd": (-7, 22), "gzip": (1, 9), "brotli": (0, 11)}


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of each file."""

    codec: str
    level: int | None
    group_rows: int
    """The maximum rows of a row group."""
    group_bytes: int
    """The maximum bytes of a row group in memory, unless a single row is larger."""
    page_bytes: int
    page_rows: int
    dictionary_bytes: int
    file_bytes: int
    """The size at which a file is closed and the next one started."""
    bloom: Mapping[str, float]
    """The columns with a bloom filter, by table column name, with the false positive probability."""
    bloom_bytes: int

    @classmethod
    def of(cls, metadata: TableMetadata) -> Layout:
        properties = metadata.properties
        check_format(properties)
        file_bytes = _positive(properties, TARGET_SIZE, 512 * MB)
        codec = _codec(properties)
        return cls(
            codec=codec,
            level=_level(properties, codec),
            group_rows=_positive(properties, f"{_PARQUET}row-group-limit", 256 * 1024),
            group_bytes=min(_positive(properties, f"{_PARQUET}row-group-size-bytes", 128 * MB), file_bytes),
            page_bytes=_positive(properties, f"{_PARQUET}page-size-bytes", MB),
            page_rows=_positive(properties, f"{_PARQUET}page-row-limit", 20_000),
            dictionary_bytes=_positive(properties, f"{_PARQUET}dict-size-bytes", 2 * MB),
            file_bytes=file_bytes,
            bloom=_bloom(properties),
            bloom_bytes=_positive(properties, BLOOM_BYTES, MB),
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options of pyarrow's writer, the same for every file."""
        return {
            "compression": self.codec,
            "compression_level": self.level,
            "data_page_size": self.page_bytes,
            "max_rows_per_page": self.page_rows,
            "dictionary_pagesize_limit": self.dictionary_bytes,
            "write_page_index": True,
            "store_decimal_as_integer": True,
        }


def check_format(properties: Mapping[str, str]) -> None:
    """Fails if the table requests another format: only Parquet is written."""
    value = properties.get(FORMAT, "parquet")
    if value.lower() != "parquet":
        raise NotSupportedError(
            f"the table has {FORMAT} = '{value}', and only Parquet files are written. "
            f"ALTER TABLE … SET TBLPROPERTIES ('{FORMAT}' = 'parquet') first."
        )


def _codec(properties: Mapping[str, str]) -> str:
    value = properties.get(CODEC, "lz4")
    codec = CODECS.get(value.lower())
    if codec is None:
        raise InvalidArgument(f"table property {CODEC} is {value!r}; available: {', '.join(CODECS)}")
    return codec


def _level(properties: Mapping[str, str], codec: str) -> int | None:
    """Returns the compression level; None for a codec without levels, as in other engines."""
    if LEVEL not in properties or codec not in _WITH_LEVELS:
        return None
    least, most = _WITH_LEVELS[codec]
    level = _number(properties, LEVEL)
    if not least <= level <= most:
        raise InvalidArgument(f"table property {LEVEL} is {level}; {codec} has levels from {least} to {most}")
    return level


def _bloom(properties: Mapping[str, str]) -> dict[str, float]:
    enabled = [k.removeprefix(BLOOM) for k, v in properties.items() if k.startswith(BLOOM) and v.lower() == "true"]
    return {column: _odds(properties, f"{BLOOM_ODDS}{column}") for column in enabled}


def _odds(properties: Mapping[str, str], key: str) -> float:
    text = properties.get(key, "0.01")
    try:
        odds = float(text)
    except ValueError:
        odds = 0.0
    if not 0.0 < odds < 1.0:
        raise InvalidArgument(f"table property {key} is {text!r}; it must be a number between 0 and 1")
    return odds


def _positive(properties: Mapping[str, str], key: str, default: int) -> int:
    if key not in properties:
        return default
    number = _number(properties, key)
    if number < 1:
        raise InvalidArgument(f"table property {key} is {number}; it must be 1 or more")
    return number


def _number(properties: Mapping[str, str], key: str) -> int:
    try:
        return int(properties[key])
    except ValueError:
        raise InvalidArgument(f"table property {key} is {properties[key]!r}; it must be a whole number") from None
