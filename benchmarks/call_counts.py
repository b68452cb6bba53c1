"""How much of our own code one statement enters: modules, functions and calls, for a statement with a new text in a
session that has run others of the kind before.

    python benchmarks/call_counts.py [--functions SELECT]

Counted are the calls of Python functions that stand in pinakes/, on this thread and on those that it starts;
comprehensions are functions, and each time that a generator goes on is a call. The figures depend on no clock, so they
can be compared between versions.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pinakes
from pinakes.api.connection import Connection

PACKAGE = str(Path(pinakes.__file__).parent)
STATEMENTS = {
    "SELECT": "SELECT id, name FROM t WHERE id = {n}",
    "INSERT VALUES": "INSERT INTO t VALUES (1, 'a', {n}), (2, 'b', 2)",
    "UPDATE": "UPDATE t SET n = n + {n} WHERE id = 1",
    "MERGE": "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name, n = s.n + {n} "
    "WHEN NOT MATCHED THEN INSERT VALUES (s.id + {n}, s.name, s.n)",
}
SETUP = (
    "CREATE OR REPLACE TABLE t (id INT, name VARCHAR, n INT)",
    "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
    "CREATE OR REPLACE TABLE s (id INT, name VARCHAR, n INT)",
    "INSERT INTO s VALUES (3, 'x', 1), (9, 'y', 2)",
)
WARM = 3
"""Statements of the kind that are run before the one that is counted."""

Function = tuple[str, str, int]
"""Its file, its name and its first line."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--functions", choices=STATEMENTS, help="list the functions of one kind, with their calls")
    chosen = parser.parse_args().functions
    with pinakes.connect(data=":memory:") as connection:
        for kind in [chosen] if chosen else STATEMENTS:
            for sql in SETUP:
                connection.execute(sql)
            calls = _counted(connection, STATEMENTS[kind])
            modules = {file for file, _, _ in calls}
            print(f"{kind:14} {len(modules):5} modules {len(calls):6} functions {calls.total():7} calls")
            for (file, name, line), count in calls.most_common() if chosen else ():
                print(f"  {count:6}  {file.removeprefix(PACKAGE)[1:]}:{line} {name}")


def _counted(connection: Connection, sql: str) -> Counter[Function]:
    for n in range(WARM):
        _run(connection, sql.format(n=n))
    calls: Counter[Function] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            calls[code.co_filename, code.co_name, code.co_firstlineno] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        _run(connection, sql.format(n=WARM))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def _run(connection: Connection, sql: str) -> None:
    """A query to its last row."""
    cursor = connection.execute(sql)
    if cursor.description is not None:
        cursor.fetchall()


if __name__ == "__main__":
    main()
