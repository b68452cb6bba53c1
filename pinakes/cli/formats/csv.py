"""CSV: a header line, quotes only where they are needed, NULL as nothing."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, TextIO

from pinakes.cli.formats.values import as_text, rows

if TYPE_CHECKING:
    from pinakes.engine.result import Result


def write(result: Result, out: TextIO, width: int | None) -> int:
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(result.schema.names)
    count = 0
    for batch in result:
        lines.writerows(["" if v is None else as_text(v) for v in row] for row in rows(batch))
        count += batch.num_rows
    return count
