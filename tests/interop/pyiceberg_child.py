"""pyiceberg as its users have it: a process in which nothing of ours was imported (`providers/iceberg/v3` completes the
pyiceberg of ours). It takes a JSON object per line and answers with one.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pyarrow as pa
from pyiceberg.table import StaticTable


def main() -> None:
    for line in sys.stdin:
        try:
            answer = answered(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is told
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    scan = StaticTable.from_metadata(asked["metadata"]).scan(row_filter=asked["where"])
    scan = scan.use_ref(asked["ref"]) if asked["ref"] else scan
    table, sink = scan.to_arrow(), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {"files": len(list(scan.plan_files())), "rows": base64.b64encode(sink.getvalue()).decode()}


if __name__ == "__main__":
    main()
