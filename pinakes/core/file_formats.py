"""Which endings of file names stand for which format, compressed or not: for whoever lists or reads files."""

from __future__ import annotations

from collections.abc import Mapping

ENDINGS: Mapping[str, str] = {
    **dict.fromkeys((".parquet", ".pq", ".parq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
}
COMPRESSED: Mapping[str, str] = {
    ".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2", ".lz4": "lz4",
}  # fmt: skip


_PACKED = tuple(COMPRESSED)


def format_of(name: str) -> str | None:
    """The format that a file's ending says, that of its compression left aside."""
    return ENDINGS.get(_ending(_unpacked(name)).lower())


def stem_of(name: str) -> str:
    """The name of a file without the endings that say what is in it."""
    unpacked = _unpacked(name)
    ending = _ending(unpacked)
    return unpacked.removesuffix(ending) if ending.lower() in ENDINGS else name


def _unpacked(name: str) -> str:
    return name[: name.rindex(".")] if name.lower().endswith(_PACKED) else name


def _ending(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem else ""
