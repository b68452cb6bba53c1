"""Reads the first bytes of new files: the header of a CSV file, and the layout of a JSON file. Loaded files are not
opened."""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from pinakes.core.values import truth
from pinakes.pipelines.loads.reading.inputs import Input, Unreadable

if TYPE_CHECKING:
    from pinakes.engine.files.paths import File

_FIRST = 1 << 16
_AT_ONCE = 8
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd", ".lz4": "lz4"}
A = TypeVar("A")


def inspect_files(
    look: Callable[[Input], A], inputs: Iterable[Input]
) -> tuple[dict[str, tuple[Input, A]], list[Unreadable]]:
    """Applies `look` to each file. Returns the results by URI, and the unreadable files."""
    seen: dict[str, tuple[Input, A]] = {}
    unreadable: list[Unreadable] = []

    def tried(entry: Input) -> tuple[Input, A | None, str]:
        try:
            return entry, look(entry), ""
        except (pa.ArrowInvalid, pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error, csv.Error) as error:
            return entry, None, str(error).splitlines()[0][:300]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for entry, found, fault in pool.map(tried, inputs):
            if fault:
                unreadable.append(Unreadable(entry.path, f"the file can't be read: {fault}"))
            else:
                seen[entry.uri] = entry, found  # type: ignore[assignment]
    return seen, unreadable


def header_of(file: File, options: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the column names of a CSV file, or numbered names for the fields of its first record; empty for an empty
    file."""
    text = _first(file, options.get("encoding", "utf-8")).lstrip("\ufeff")
    comment = options.get("comment")
    lines = (
        line
        for line in io.StringIO(text, newline="")
        if line.strip("\r\n") and not (comment and line.startswith(comment))
    )
    quote = options.get("quote", '"')
    escape = options.get("escape", quote)
    found = csv.reader(
        lines,
        delimiter=delimiter_of(options),
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        escapechar=None if escape in (quote, "") else escape,
    )
    fields = next(found, [])
    if not truth(options.get("header", "true")):
        return tuple(f"_c{at}" for at in range(len(fields)))
    return tuple(name.strip() or f"_c{at}" for at, name in enumerate(fields))


def delimiter_of(options: Mapping[str, str]) -> str:
    given = options.get("delimiter", options.get("sep", ","))
    return "\t" if given == "\\t" else given


def is_document(file: File, options: Mapping[str, str]) -> bool:
    """Whether a JSON file is a single value, such as an array of records, instead of one record per line."""
    if "multiLine" in options:
        return truth(options["multiLine"])
    text = _first(file, options.get("encoding", "utf-8")).lstrip("\ufeff \t\r\n")
    first = text.partition("\n")[0].strip()
    if not text.startswith("{"):
        return text.startswith("[")
    try:
        json.loads(first)
    except ValueError:
        return first == "{" or first.endswith(("{", ",", "["))
    return False


def _first(file: File, encoding: str) -> str:
    """Returns the first characters, decompressed by the file's suffix, as Spark does it."""
    codec = next((_CODECS[s] for s in file.suffixes[-1:] if s in _CODECS), None)
    with file.stream() as raw:
        if codec is None:
            return bytes(raw.read(_FIRST)).decode(encoding, errors="replace")
        with pa.CompressedInputStream(raw, codec) as stream:
            return bytes(stream.read(_FIRST)).decode(encoding, errors="replace")
