"""COPY … TO an Arrow file (IPC, also called Feather)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pinakes.engine.files.write_options import Arrow
from pinakes.engine.files.write_rows import RowWriter, as_portable, portable


class ArrowWriter(RowWriter):
    def __init__(self, stream: Any, schema: pa.Schema, options: Arrow) -> None:
        super().__init__(stream)
        self._schema = portable(schema)
        compression = None if options.compression == "none" else options.compression
        self._writer = pa.ipc.new_file(stream, self._schema, options=pa.ipc.IpcWriteOptions(compression=compression))

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(as_portable(batch, self._schema))

    def finish(self) -> None:
        self._writer.close()
        super().finish()
