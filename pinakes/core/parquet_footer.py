"""Footers of Parquet files, checked before a library reads them.

A footer can lie about counts, offsets and lengths. Arrow ends the process when its Python functions look at a column
chunk that contradicts the schema, and DataFusion does when it allocates the range of bytes that a footer names. So a
footer is parsed here first (Thrift's compact protocol), and the facts that they rely on are compared.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pinakes.core.varint import read_varint

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
MOST_BYTES = 256 << 20
"""The largest footer that is read, as for metadata files."""
_TAIL = 64 << 10
_DEEPEST = 32
"""Structs within structs; those of the format have at most seven levels."""
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
"""Bytes of a value by physical type; the others are texts, and bytes of a length in the schema."""
_BYTE_ARRAY, _FIXED = 6, 7
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)


class Source(Protocol):
    """A file that is open for random access."""

    def seek(self, position: int, whence: int = 0, /) -> int: ...
    def read(self, nbytes: int, /) -> bytes: ...


def read_footer(source: Source) -> pq.FileMetaData:
    """Reads and checks the footer of an open file; ValueError if it is malformed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = source.seek(0, 2)
    content = footer_bytes(source, size)
    check_footer(content, size)
    return pq.read_metadata(pa.BufferReader(b"".join((_MAGIC, content, struct.pack("<I", len(content)), _MAGIC))))


def footer_bytes(source: Source, size: int) -> bytes:
    source.seek(max(size - _TAIL, 0))
    tail = source.read(_TAIL)
    if len(tail) < 12 or tail[-4:] not in (_MAGIC, _ENCRYPTED):
        raise ValueError("Parquet magic bytes not found in footer")
    if tail[-4:] == _ENCRYPTED:
        raise ValueError("its footer is encrypted")
    length = struct.unpack("<I", tail[-8:-4])[0]
    if length > min(size - 8, MOST_BYTES):
        raise ValueError(f"its footer of {length} bytes is larger than the file or than {MOST_BYTES >> 20} MB")
    if length + 8 <= len(tail):
        return tail[-8 - length : -8]
    source.seek(size - 8 - length)
    return source.read(length)


def check_footer(content: bytes, size: int) -> dict[int, Any]:
    """Returns the fields of a footer. Raises ValueError if a column chunk contradicts the schema, or lies outside of a
    file of this size."""
    try:
        found, _ = parse_struct(content)
        leaves = leaves_of(found[2])
        for group in found.get(4, ()):
            _check_group(group, leaves, size)
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("its footer is malformed") from error
    return found


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of the schema that has values."""

    physical: int
    width: int
    definition: int
    repetition: int

    @property
    def is_text(self) -> bool:
        """Whether a value has its length before it."""
        return self.physical == _BYTE_ARRAY


def leaves_of(elements: list[dict[int, Any]]) -> list[Leaf]:
    """Returns the columns with values; groups count their children in field 5."""
    found: list[Leaf] = []
    open_groups: list[list[int]] = []
    for number, element in enumerate(elements):
        definition, repetition = open_groups[-1][1:] if open_groups else (0, 0)
        if number:
            if not open_groups:
                raise ValueError("its schema has more columns than it says")
            open_groups[-1][0] -= 1
            kind = element.get(3, 0)
            definition, repetition = definition + (kind != 0), repetition + (kind == 2)
        children = element.get(5) or 0
        if children < 0 or (element.get(1) is None) != bool(children or not number):
            # A group without children is left to the libraries, which refuse it.
            raise ValueError("its schema has an element that is neither a group nor a column")
        if children:
            open_groups.append([children, definition, repetition])
        elif number:
            physical = element[1]
            width = element.get(2) or 0 if physical == _FIXED else _WIDTHS.get(physical, 0)
            found.append(Leaf(physical, width, definition, repetition))
        while open_groups and not open_groups[-1][0]:
            open_groups.pop()
    if open_groups:
        raise ValueError("its schema has fewer columns than it says")
    return found


def _check_group(group: dict[int, Any], leaves: list[Leaf], size: int) -> None:
    chunks = group[1]
    if len(chunks) != len(leaves):
        raise ValueError("a row group has other columns than its schema")
    for chunk, leaf in zip(chunks, leaves, strict=True):
        _check_range(chunk.get(4), chunk.get(5), size)  # offset index
        _check_range(chunk.get(6), chunk.get(7), size)  # column index
        if 8 in chunk or 9 in chunk:
            raise ValueError("its columns are encrypted")
        metadata = chunk[3]
        if metadata[1] != leaf.physical:
            raise ValueError("a column chunk has another type than its column")
        start, dictionary, length = metadata[9], metadata.get(11), metadata[7]
        _check_range(dictionary if dictionary and 0 < dictionary < start else start, length, size)
        _check_range(start, 0, size)
        _check_range(metadata.get(10), 0, size)  # index pages
        _check_range(dictionary, 0, size)
        _check_range(metadata.get(14), metadata.get(15), size)  # bloom filter
        if metadata[6] < 0 or metadata[5] < 0:
            raise ValueError("a column chunk has a negative size")
        _check_statistics(metadata, leaf)


def _check_range(start: int | None, length: int | None, size: int) -> None:
    if start is not None and not 0 <= start <= start + (length or 0) <= size:
        raise ValueError("its footer refers to bytes outside of the file")
    if length is not None and length < 0:
        raise ValueError("its footer has a negative length")


def _check_statistics(metadata: dict[int, Any], leaf: Leaf) -> None:
    statistics, sizes = metadata.get(12, {}), metadata.get(16, {})
    for field in (1, 2, 5, 6):
        value = statistics.get(field)
        if value and len(value) < leaf.width:
            raise ValueError("a statistic is too short for its type")
    for field, level in ((2, leaf.repetition), (3, leaf.definition)):
        histogram = sizes.get(field)
        if histogram and len(histogram) != level + 1:
            raise ValueError("a histogram has other levels than its column")
    if 1 in sizes and leaf.physical != _BYTE_ARRAY:
        raise ValueError("a column of numbers has sizes of texts")


# --- Thrift's compact protocol ---------------------------------------------------------------------------------------


def parse_struct(content: bytes) -> tuple[dict[int, Any], int]:
    """Returns the fields of a struct by number, and its length; IndexError if it is incomplete."""
    return _struct(content, 0, 0)


def _struct(content: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Returns the fields of a struct by number, and the offset of its end."""
    if depth > _DEEPEST:
        raise ValueError("its footer is nested too deeply")
    found: dict[int, Any] = {}
    number = 0
    while head := content[at]:
        at += 1
        kind = head & 0x0F
        if head > 0x0F:
            number += head >> 4
        else:
            raw, at = read_varint(content, at)
            number = (raw >> 1) ^ -(raw & 1)
        if kind in (_TRUE, _FALSE):
            found[number] = kind == _TRUE
        elif kind in _INTEGERS:
            # Inlined: most fields are numbers of one byte.
            raw = content[at]
            at += 1
            if raw > 0x7F:
                raw, at = read_varint(content, at - 1)
            found[number] = (raw >> 1) ^ -(raw & 1)
        else:
            found[number], at = _value(content, at, kind, depth)
    return found, at + 1


def _value(content: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind == _STRUCT:
        return _struct(content, at, depth + 1)
    if kind == _BINARY:
        length, at = read_varint(content, at)
        return content[at : _end(content, at, length)], at + length
    if kind in _INTEGERS:
        raw, at = read_varint(content, at)
        return (raw >> 1) ^ -(raw & 1), at
    if kind in (_TRUE, _FALSE, _BYTE):
        return content[at], at + 1
    if kind == _DOUBLE:
        return None, _end(content, at, 8)
    if kind in (_LIST, _SET):
        head = content[at]
        count, kind, at = head >> 4, head & 0x0F, at + 1
        if count == 15:
            count, at = read_varint(content, at)
        _end(content, at, count)  # an element has a byte at least
        found = []
        for _ in range(count):
            value, at = _value(content, at, kind, depth + 1)
            found.append(value)
        return found, at
    if kind == _MAP:
        return None, _map(content, at, depth)
    raise ValueError(f"no type {kind}")


def _map(content: bytes, at: int, depth: int) -> int:
    count, at = read_varint(content, at)
    if not count:
        return at
    kinds, at = content[at], at + 1
    _end(content, at, count)
    for _ in range(count):
        for kind in (kinds >> 4, kinds & 0x0F):
            _, at = _value(content, at, kind, depth + 1)
    return at


def _end(content: bytes, at: int, length: int) -> int:
    if length > len(content) - at:
        raise IndexError(length)
    return at + length
