"""A server under load: 50 ADBC clients of five users, with a mix of metadata, point queries, TPC-H and ingestion; and
what becomes of `select 1` beside a heavy query.

    python benchmarks/load.py [--seconds 60] [--clients 50] [--scale 0.1] [--data DIRECTORY] [--only starve]

60 seconds are for every day, `--seconds 300` for a release. What is promised stands beside what was measured; the exit
code is 1 when a promise is missed.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
from _extensions import generated
from _load import KINDS, USERS, Server, Taken, ask, client, load_tables, percentile, server
from _tpch import QUERIES

MOST_SLOWER, MOST_GROWTH, LEAST_SHARE = 10.0, 1.25, 0.5
CROSS_JOIN = "SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_comment < b.l_comment"
SAMPLES = 400


def main() -> int:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or generated("tpch", arguments.scale, Path(scratch, "data"))
        if data is None:
            print("no data: give --data, or install duckdb-extension-tpch")
            return 0
        with server(Path(scratch)) as running:
            load_tables(running, data)
            kept = _starving(running)
            if arguments.only != "starve":
                kept = _mixed(running, arguments.clients, arguments.seconds) and kept
    return 0 if kept else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--scale", default="0.1")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", choices=("starve",))
    return parser.parse_args()


# --- beside a heavy query ----------------------------------------------------------------------------------------


def _starving(of: Server) -> bool:
    """`select 1` while nothing else runs, beside Q18 again and again, and beside joins that take for ever: one, and as
    many as a user may run."""
    quiet = _pings(of)
    print(f"select 1 alone                p50 {_ms(percentile(quiet, 0.5))}  p99 {_ms(percentile(quiet, 0.99))}")
    kept = True
    for name, sql, times in (
        ("Q18", QUERIES[18], 1),
        ("a cross join", CROSS_JOIN, 1),
        ("6 cross joins", CROSS_JOIN, 6),
    ):
        stops = [_repeatedly(of, sql) for _ in range(times)]
        beside = _pings(of)
        for stop in stops:
            stop()
        ratio = percentile(beside, 0.99) / percentile(quiet, 0.99)
        print(f"select 1 beside {name:13} p50 {_ms(percentile(beside, 0.5))}  p99 {_ms(percentile(beside, 0.99))}")
        kept = _promise(f"p99 of select 1 beside {name} against alone", ratio, MOST_SLOWER) and kept
    return kept


def _pings(of: Server) -> list[float]:
    found = []
    with of.connect(USERS[0]) as connection:
        for number in range(SAMPLES + 50):
            began = time.perf_counter()
            ask(connection, "SELECT 1")
            if number >= 50:  # those before make the connection and fill the caches
                found.append(time.perf_counter() - began)
    return found


def _repeatedly(of: Server, sql: str) -> Callable[[], None]:
    """Begin to run a statement again and again; what ends it."""
    over = threading.Event()
    connection = of.connect(USERS[1])
    cursor = connection.cursor()

    def run() -> None:
        with suppress(adbc.Error):  # the last one is canceled
            while not over.is_set():
                cursor.execute(sql)
                cursor.fetch_arrow_table()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(1.0)

    def stop() -> None:
        over.set()
        with of.connect(USERS[1]) as other:
            found = _rows(other, "SELECT query_id FROM system.runtime.queries WHERE state IN ('RUNNING', 'PLANNING')")
            for query_id in found:
                with suppress(adbc.Error):
                    ask(other, f"CALL system.runtime.kill_query('{query_id}', 'measured')")
        thread.join(60)
        cursor.close()
        connection.close()

    return stop


def _rows(connection: adbc.Connection, sql: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [row[0] for row in cursor.fetchall()]


# --- the mix -----------------------------------------------------------------------------------------------------


def _mixed(of: Server, clients: int, seconds: float) -> bool:
    taken = {kind: Taken() for kind in KINDS}
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=client, args=(of, n, until, taken)) for n in range(clients)]
    for thread in threads:
        thread.start()
    memory = _watched(of, until)
    for thread in threads:
        thread.join(120)
    stuck = sum(thread.is_alive() for thread in threads)
    return _report(taken, seconds, memory, stuck)


def _watched(of: Server, until: float) -> list[tuple[float, int]]:
    """Memory and threads, ten times in all."""
    found = []
    pause = max(0.1, (until - time.monotonic()) / 10)
    while time.monotonic() + pause <= until + 0.01:
        time.sleep(pause)
        found.append((of.resident(), of.threads()))
    return found


def _report(taken: dict[str, Taken], seconds: float, memory: list[tuple[float, int]], stuck: int) -> bool:
    print(f"{'':10} {'done':>8} {'per s':>8} {'p50':>10} {'p95':>10} {'p99':>10} {'failed':>7}")
    for kind, of in taken.items():
        shown = "".join(f" {_ms(percentile(of.all, share)):>10}" for share in (0.5, 0.95, 0.99))
        print(f"{kind:10} {len(of.all):8} {len(of.all) / seconds:8.1f}{shown} {len(of.failures):7}")
    done, failures = sum(len(t.all) for t in taken.values()), [f for t in taken.values() for f in t.failures]
    print(f"{'all':10} {done:8} {done / seconds:8.1f}")
    for failure in sorted(set(failures))[:5]:
        print(f"  {failure}")
    print("memory (MB):  " + "  ".join(f"{resident:.0f}" for resident, _ in memory))
    print("threads:      " + "  ".join(str(threads) for _, threads in memory))
    shares = [sum(len(t.seconds.get(user, [])) for t in taken.values()) for user in USERS]
    print("per user:     " + "  ".join(f"{user} {n}" for user, n in zip(USERS, shares, strict=True)))
    half = memory[len(memory) // 2 :]
    return all(
        [
            _promise("failed statements", len(failures), 0),
            _promise("clients that are stuck", stuck, 0),
            _promise(
                "the user with most against the one with least", max(shares) / max(1, min(shares)), 1 / LEAST_SHARE
            ),
            _promise("memory at the end against the middle", half[-1][0] / half[0][0], MOST_GROWTH),
        ]
    )


def _promise(words: str, value: float, most: float) -> bool:
    print(f"  {'kept' if value <= most else 'MISSED':6} {words}: {value:.3g} (at most {most:g})")
    return value <= most


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    raise SystemExit(main())
