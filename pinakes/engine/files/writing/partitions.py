"""COPY … TO with PARTITION_BY: a directory per value, as in Hive (`year=2024/kind=a%2Fb/data_0.parquet`).

Rows are buffered, and then those of the largest partitions are written, so that a file consists of few large pieces.
The number of open files is limited; the least recently used one is closed, and later rows of its partition go to
another file.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.core.output.texts import texts
from pinakes.engine.files.writing.writers import RowWriter, as_portable, portable

MOST_OPEN = 32
"""The maximum number of open files; one of Parquet takes about 2 MB."""
MOST_BYTES = 64 << 20
"""The maximum total bytes of buffered rows."""
NULL = "__HIVE_DEFAULT_PARTITION__"
"""The directory name of NULL."""

Opened = Callable[[Path, pa.Schema], RowWriter]


class PartitionedWriter:
    def __init__(
        self, root: Path, schema: pa.Schema, columns: Sequence[str], *, ending: str, keep: bool, opened: Opened
    ) -> None:
        self._root, self._columns, self._ending, self._opened = root, columns, ending, opened
        self._kept = [name for name in schema.names if keep or name not in columns]
        if not self._kept:
            raise InvalidArgument("PARTITION_BY names every column: at least one must be left for the files")
        nested = [name for name in columns if pa.types.is_nested(schema.field(name).type)]
        if nested:
            raise InvalidArgument(f"PARTITION_BY can't be a nested column: {nested[0]}")
        self._plain = portable(schema)
        self._schema = pa.schema([self._plain.field(name) for name in self._kept])
        self._held: dict[str, list[pa.RecordBatch]] = {}
        self._bytes: Counter[str] = Counter()
        self._open: OrderedDict[str, RowWriter] = OrderedDict()
        self._files: Counter[str] = Counter()

    def write(self, batch: pa.RecordBatch) -> None:
        for directory, rows in self._split(as_portable(batch, self._plain)):
            self._held.setdefault(directory, []).append(rows)
            self._bytes[directory] += rows.nbytes
        if self._bytes.total() > MOST_BYTES:
            for directory, _ in self._bytes.most_common():
                self._release(directory).flush()
                if self._bytes.total() <= MOST_BYTES // 2:
                    break

    def finish(self) -> None:
        for directory in list(self._held):
            self._release(directory).finish()
            del self._open[directory]
        for writer in self._open.values():
            writer.finish()

    def abandon(self) -> None:
        for writer in self._open.values():
            writer.abandon()

    def _release(self, directory: str) -> RowWriter:
        """Writes the buffered rows of a directory."""
        writer = self._writer(directory)
        for rows in self._held.pop(directory):
            writer.write(rows)
        del self._bytes[directory]
        return writer

    def _split(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Yields the rows of each directory, in order."""
        if batch.num_rows == 0:
            return
        keys = {str(number): texts(batch.column(name)) for number, name in enumerate(self._columns)}
        rows = pa.table({**keys, "row": pa.arange(0, batch.num_rows)})
        groups = rows.group_by(list(keys), use_threads=False).aggregate([("row", "list")])
        kept = batch.select(self._kept)
        for values in groups.to_batches():
            for number in range(values.num_rows):
                parts = [values.column(key)[number].as_py() for key in keys]
                yield self._directory(parts), kept.take(values.column("row_list")[number].values)

    def _directory(self, values: Sequence[str | None]) -> str:
        parts = zip(self._columns, values, strict=True)
        return "/".join(f"{_safe(name)}={NULL if value is None else _safe(value)}" for name, value in parts)

    def _writer(self, directory: str) -> RowWriter:
        if directory in self._open:
            self._open.move_to_end(directory)
            return self._open[directory]
        if len(self._open) >= MOST_OPEN:
            self._open.popitem(last=False)[1].finish()
        place = self._root / directory
        place.mkdir(parents=True, exist_ok=True)
        writer = self._opened(place / f"data_{self._files[directory]}{self._ending}", self._schema)
        self._files[directory] += 1
        self._open[directory] = writer
        return writer


def _safe(text: str) -> str:
    """Escapes a value; text that equals the directory name of NULL is escaped as well."""
    return quote(text, safe=" ") if text != NULL else f"%5F{text[1:]}"
