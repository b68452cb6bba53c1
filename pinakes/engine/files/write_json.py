"""COPY … TO a JSON file: one array with a row per line, or only the lines. `core/json_rows.py` formats the objects."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.core.json_rows import objects
from pinakes.engine.files.write_rows import RowWriter, bytes_as_text


class JsonWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, *, as_array: bool) -> None:
        super().__init__(stream)
        self._keys = schema.names
        self._between = ",\n" if as_array else "\n"
        self._next, self._last = (b"[\n", b"\n]\n") if as_array else (b"", b"\n")
        self._empty = b"[]\n" if as_array else b""
        self._any = False

    def write(self, batch: pa.RecordBatch) -> None:
        for text in objects(bytes_as_text(batch), self._keys, self._between):
            self._stream.write(self._next)
            self._stream.write(text)
            self._next, self._any = self._between.encode(), True

    def finish(self) -> None:
        self._stream.write(self._last if self._any else self._empty)
        super().finish()
