"""A server under a mix of statements for long: memory, threads and file descriptors must stay flat.

    python benchmarks/soak.py [--minutes 60] [--clients 12] [--scale 0.01]

Prints a line ten times in all. The first third is for warming up; after it, nothing may grow beyond what is promised.
The exit code is 1 when something does, or when a statement failed.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from _extensions import generated
from _load import KINDS, Server, Taken, client, load_tables, server

MOST = {"memory": 1.2, "threads": 1.3, "descriptors": 1.3}
"""How much more of each the last third may have than the one before it."""


class Look(NamedTuple):
    memory: float
    threads: int
    descriptors: int


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--scale", default="0.01")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = generated("tpch", arguments.scale, Path(scratch, "data"))
        if data is None:
            print("no data: install duckdb-extension-tpch")
            return 0
        with server(Path(scratch)) as running:
            load_tables(running, data)
            return 0 if soak(running, arguments.minutes * 60, arguments.clients) else 1


def soak(of: Server, seconds: float, clients: int, looks: int = 30) -> bool:
    taken = {kind: Taken() for kind in KINDS}
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=client, args=(of, n, until, taken)) for n in range(clients)]
    for thread in threads:
        thread.start()
    seen = [_look(of, seconds / looks, number, looks) for number in range(looks)]
    for thread in threads:
        thread.join(120)
    failures = [failure for t in taken.values() for failure in t.failures]
    print(f"{sum(len(t.all) for t in taken.values())} statements, {len(failures)} failed: {sorted(set(failures))[:3]}")
    return _flat(seen) and not failures and not any(thread.is_alive() for thread in threads)


def _look(of: Server, pause: float, number: int, looks: int) -> Look:
    time.sleep(pause)
    found = Look(of.resident(), of.threads(), of.descriptors())
    if number % max(1, looks // 10) == 0:
        print(
            f"memory {found.memory:7.0f} MB   threads {found.threads:4}   descriptors {found.descriptors:5}", flush=True
        )
    return found


def _flat(seen: list[Look]) -> bool:
    third = len(seen) // 3
    kept = True
    for at, (name, most) in enumerate(MOST.items()):
        middle, last = (median(look[at] for look in part) for part in (seen[third : 2 * third], seen[2 * third :]))
        grown, said = last / middle, "kept" if last / middle <= most else "MISSED"
        print(f"  {said:6} {name}: the last third has {grown:.3g} times the middle's (at most {most:g})")
        kept = kept and grown <= most
    return kept


if __name__ == "__main__":
    raise SystemExit(main())
