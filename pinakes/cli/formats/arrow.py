"""Arrow: each result is one IPC stream, with its schema even without rows. Several results follow each other.

with pa.input_stream("out.arrows") as source:      # or sys.stdin.buffer
    table = pa.ipc.open_stream(source).read_all()  # once for each result
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import pyarrow as pa

from pinakes.core.errors import InvalidArgument

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    below = getattr(out, "buffer", None)
    if below is None or out.isatty():
        raise InvalidArgument(
            "arrow is a binary format and can't be shown here: send it to a file or a pipe, "
            "or choose another format (table, csv, tsv, json, jsonl, markdown)"
        )
    out.flush()
    count = 0
    with pa.ipc.new_stream(below, result.schema) as stream:
        for batch in result:
            stream.write_batch(batch)
            count += batch.num_rows
    return count
