"""File formats by file name extension, also for compressed files."""

from __future__ import annotations

from collections.abc import Mapping

ENDINGS: Mapping[str, str] = {
    **dict.fromkeys((".parquet", ".pq", ".parq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
    ".avro": "avro",
    ".orc": "orc",
    ".xlsx": "excel",
}
FOUND_ENDINGS: Mapping[str, str] = {e: f for e, f in ENDINGS.items() if f in ("parquet", "csv", "json", "arrow")}
"""Those of files that a directory, or a catalog of files, is made of: others have to be named."""
COMPRESSED: Mapping[str, str] = {
    ".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2", ".lz4": "lz4",
}  # fmt: skip


_PACKED = tuple(COMPRESSED)


def format_of(name: str) -> str | None:
    """Returns the format of a file name, without the extension of its compression."""
    return ENDINGS.get(_ending(_unpacked(name)).lower())


def found_format_of(name: str) -> str | None:
    """Returns the format of a file in a directory that is read as a table."""
    return FOUND_ENDINGS.get(_ending(_unpacked(name)).lower())


def stem_of(name: str) -> str:
    """Returns the name of a file without its format and compression extensions."""
    plain = name[:-4] if name.lower().endswith(".zip") and len(name) > 4 else name
    unpacked = _unpacked(plain)
    ending = _ending(unpacked)
    return unpacked.removesuffix(ending) if ending.lower() in ENDINGS else plain


def _unpacked(name: str) -> str:
    return name[: name.rindex(".")] if name.lower().endswith(_PACKED) else name


def _ending(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem else ""
