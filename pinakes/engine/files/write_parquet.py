"""COPY … TO a Parquet file. Rows are buffered until a row group is full, in rows or bytes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pinakes.core.errors import NotSupportedError
from pinakes.engine.files.write_options import Parquet
from pinakes.engine.files.write_rows import RowWriter, as_portable, portable

MOST_BYTES = 64 << 20
"""The maximum memory of a row group before it is written."""


class ParquetWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, options: Parquet) -> None:
        super().__init__(stream)
        self._schema = portable(schema)
        self._most = options.row_group_size
        self._rows = self._bytes = 0
        self._held: list[pa.RecordBatch] = []
        try:
            self._writer = pq.ParquetWriter(
                stream,
                self._schema,
                compression=options.compression,
                compression_level=options.compression_level,
                store_schema=True,
            )
        except pa.ArrowNotImplementedError as error:
            stream.close()
            raise NotSupportedError(f"parquet can't hold these columns: {error}. CAST what it lacks.") from error

    def write(self, batch: pa.RecordBatch) -> None:
        while batch.num_rows:
            part = batch.slice(0, self._most - self._rows)
            batch = batch.slice(part.num_rows)
            self._held.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._rows >= self._most or self._bytes >= MOST_BYTES:
                self.flush()

    def flush(self) -> None:
        if self._held:
            batches = [as_portable(batch, self._schema) for batch in self._held]
            self._writer.write_table(pa.Table.from_batches(batches, self._schema), self._most)
            self._held, self._rows, self._bytes = [], 0, 0

    def finish(self) -> None:
        self.flush()
        self._writer.close()
        super().finish()

    def abandon(self) -> None:
        self._writer.is_open = False  # otherwise it writes its footer when it is garbage-collected
        super().abandon()
