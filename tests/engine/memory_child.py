"""One statement in a process of its own, so that its memory can be measured.

    python -m tests.engine.memory_child DIRECTORY MEMORY_LIMIT PARTS SQL …

Prints a line of JSON: what became of each statement, and the most memory the process ever had, in bytes.
"""

from __future__ import annotations

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path

from pinakes.core.errors import PinakesError
from tests.engine.support import an_engine, wait_until

TIMEOUT = 20
"""Seconds: with far too little memory, two parts of a plan of DataFusion 55 now and then wait for each other."""


def main(directory: Path, limit: int, parts: int, statements: list[str]) -> None:
    spill = directory / "spill"
    spill.mkdir(parents=True, exist_ok=True)
    with an_engine(directory / "lake", memory_limit=limit, spill_dir=str(spill), target_partitions=parts) as engine:
        session = engine.session()
        session.run(f"SET statement_timeout = {TIMEOUT}")
        before = peak()
        outcomes: list[object] = []
        spilled = 0
        for sql in statements:
            try:
                total = 0
                result = session.run(sql)
                for batch in result:
                    total += batch.num_rows
                    spilled = spilled or _size(spill)
                outcomes.append(total if result.kind == "rows" else result.count)
            except PinakesError as error:
                outcomes.append(error.code)
        left = _left(spill)
    answer = {"outcomes": outcomes, "grown": peak() - before, "spilled": spilled, "left": left}
    sys.stdout.write(json.dumps(answer) + "\n")


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _left(directory: Path) -> list[str]:
    """The files that stay, when the parts of a query that failed have had time to end."""
    with suppress(AssertionError):
        wait_until(lambda: _size(directory) == 0, "spilled files go")
    return [str(p) for p in directory.rglob("*") if p.is_file()]


def _size(directory: Path) -> int:
    total = 0
    for path in directory.rglob("*"):
        with suppress(FileNotFoundError):  # gone meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
