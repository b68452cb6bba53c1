"""Headers of the pages of Parquet files, checked before DataFusion reads them.

DataFusion allocates what the header of a page says: a dictionary with 2,147,483,647 values takes 16 GB, and a failed
allocation ends the process. So all headers are read here first, those that the offset index refers to among them, and
compared with the sizes of the pages. Lengths of texts in DELTA encodings have a count within the page, which may be
compressed: such files are left to Arrow, which reports a failed allocation as an error. So are files whose offset index
refers to something else than their pages.
"""

from __future__ import annotations

from typing import Any

from pinakes.core.parquet_footer import Leaf, Source, check_footer, footer_bytes, leaves_of, parse_struct

MOST_UNPACKED = 64 << 20
"""Bytes of a page that are never too many."""
MOST_RATIO = 1_000
"""How often the size of its compressed form a larger page can have."""
MOST_PAGES = 500_000
"""Pages of a file whose headers are read."""
_AHEAD = 64
_LONGEST = 1 << 20
"""Bytes of the longest header: it has statistics, whose values can be long."""
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_HEADS = {_DATA: 5, _DICTIONARY: 7, _DATA_V2: 8}
"""The field of a page header that describes a page of a type."""
_DELTA_TEXTS = {6, 7}
_UNCOMPRESSED = 0


def is_native(source: Source) -> bool:
    """Returns whether DataFusion can read an open file; ValueError if its footer or the header of a page lies."""
    size = source.seek(0, 2)
    footer = check_footer(footer_bytes(source, size), size)
    leaves = leaves_of(footer[2])
    left = MOST_PAGES
    try:
        for group in footer.get(4, ()):
            for chunk, leaf in zip(group[1], leaves, strict=True):
                _check_bloom_filter(source, chunk[3], size)
                pages = _Pages(source, leaf, chunk, left)
                if not pages.check():
                    return False
                left -= pages.count
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("the header of a page is malformed") from error
    return True


class _Pages:
    """The pages of a column chunk."""

    def __init__(self, source: Source, leaf: Leaf, chunk: dict[int, Any], most: int) -> None:
        self._source, self._leaf, self._most = source, leaf, most
        metadata = chunk[3]
        start, dictionary = metadata[9], metadata.get(11)
        self._start = dictionary if dictionary and 0 < dictionary < start else start
        self._end = self._start + metadata[7]
        self._is_compressed = metadata[4] != _UNCOMPRESSED
        self._index = chunk.get(4), chunk.get(5)
        self.count = 0

    def check(self) -> bool:
        """Returns whether DataFusion can read them; ValueError if a header lies."""
        at, data = self._start, dict[int, int]()
        while at < self._end:
            header, body = self._header(at)
            self.count += 1
            if self.count > self._most:
                return False
            kind, end = header[1], body + header[3]
            if header[3] < 0 or end > self._end:
                raise ValueError("a page is longer than its column chunk")
            self._check_size(header[2], header[3])
            details = header[_HEADS[kind]] if kind in _HEADS else {}
            if kind == _DICTIONARY:
                if at != self._start:
                    raise ValueError("a dictionary is not the first page of its column chunk")
                self._check_dictionary(details[1], header[2])
            elif kind in _HEADS:
                if details[1] < 0:
                    raise ValueError("a page has a negative number of values")
                encoding = details[2] if kind == _DATA else details[4]
                if encoding in _DELTA_TEXTS:
                    return False
                data[at] = end - at
            at = end
        return self._is_index_of(data)

    def _header(self, at: int) -> tuple[dict[int, Any], int]:
        """Returns the fields of the header of a page, and the offset of its content."""
        ahead = _AHEAD
        while True:
            wanted = min(ahead, self._end - at)
            self._source.seek(at)
            content = self._source.read(wanted)
            try:
                header, length = parse_struct(content)
                return header, at + length
            except IndexError:
                if wanted < ahead or ahead >= _LONGEST:
                    raise
            ahead *= 16

    def _check_size(self, unpacked: int, packed: int) -> None:
        if unpacked < 0 or (not self._is_compressed and unpacked != packed):
            raise ValueError("a page has another size than its header says")
        if unpacked > MOST_UNPACKED and unpacked > packed * MOST_RATIO:
            raise ValueError(f"a page of {packed} bytes is unpacked to {unpacked}")

    def _check_dictionary(self, values: int, size: int) -> None:
        width = self._leaf.width or (4 if self._leaf.is_text else 1)  # texts have their lengths before them
        if values < 0 or values * width > size:
            raise ValueError(f"a dictionary of {size} bytes has {values} values")

    def _is_index_of(self, data: dict[int, int]) -> bool:
        """Returns whether the offset index refers to these pages only: DataFusion reads them where it says."""
        start, length = self._index
        if start is None or not length:
            return True
        self._source.seek(start)
        locations = parse_struct(self._source.read(length))[0][1]
        return all(data.get(location[1]) == location[2] for location in locations)


def _check_bloom_filter(source: Source, metadata: dict[int, Any], size: int) -> None:
    start = metadata.get(14)
    if start is None:
        return
    source.seek(start)
    header, length = parse_struct(source.read(min(_AHEAD, size - start)))
    if not 0 <= header[1] <= size - start - length:
        raise ValueError("a Bloom filter is longer than the file")
