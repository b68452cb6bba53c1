"""Promise: a query that is canceled, or whose client is killed, frees the processors within 1 s and its memory within
5 s, whatever operator it is in.

Each query runs in a `pinakes serve` of its own, with spilling. Its client is killed once it computes; then the
server's processor time and memory are watched. `python benchmarks/cancel.py join` runs those with join in their name.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _harness import promise

from tests.flight.serving import Serving, eventually, serving

BUSY = 1.5
"""Seconds of processor time after which a query is in the middle of its work."""
IDLE = 0.2
"""The share of a processor that an idle server may use."""
WINDOW = 0.1
GIVE_UP = 40.0
SLACK = 200 << 20
"""Bytes that allocators keep for what comes next."""
ENDLESS = "range(100000000000)"

QUERIES = {
    "scan of Parquet": "SELECT sum(length(word)), max(id % 7) FROM '{parquet}'",
    "scan of CSV": "SELECT count(DISTINCT id % 7), max(word) FROM read_csv('{csv}')",
    "scan of JSON": "SELECT count(DISTINCT id % 7), max(word) FROM read_json('{json}')",
    "aggregation": f"SELECT sum(value % 7) FROM {ENDLESS}",
    "aggregation by many keys": f"SELECT value % 50000000 AS k, count(*) FROM {ENDLESS} GROUP BY k",
    "distinct": "SELECT count(DISTINCT value * 7919 % 90000000) FROM range(400000000)",
    "hash join": "SELECT sum(a.value * b.value) FROM range(1000000) a JOIN range(1000000) b "
    "ON a.value % 10 = b.value % 10",
    "hash join with a condition": "SELECT count(*) FROM range(1000000) a JOIN range(1000000) b "
    "ON a.value % 10 = b.value % 10 AND a.value + b.value = 5",
    "hash join, building": f"SELECT count(*) FROM {ENDLESS} a JOIN {ENDLESS} b ON a.value = b.value",
    "cross join": "SELECT sum(a.id * b.id) FROM x a, x b",
    "cross join, counted": "SELECT count(*) FROM x a CROSS JOIN x b CROSS JOIN x c",
    "nested-loop join": "SELECT sum(a.id * b.id) FROM x a, x b WHERE a.id % 7 < b.id % 11",
    "nested-loop join, few pairs": "SELECT sum(a.id * b.id) FROM x a JOIN x b ON a.id * b.id = 77",
    "nested-loop left join": "SELECT count(b.id) FROM x a LEFT JOIN x b ON a.id * 3 > b.id * 5",
    "nested-loop full join": "SELECT count(b.id) FROM x a FULL JOIN x b ON a.id * 3 > b.id * 5",
    "nested-loop EXISTS": "SELECT count(*) FROM x a WHERE NOT EXISTS (SELECT 1 FROM x b WHERE b.id + a.id < -1)",
    "sort": "SELECT sum(n) FROM (SELECT value AS n FROM range(60000000) ORDER BY value * 7919 % 1000003 OFFSET 1)",
    "sort that spills": "SELECT * FROM (SELECT value AS n, repeat('x', 50) AS s FROM range(60000000)) "
    "ORDER BY n * 7919 % 1000003 OFFSET 59999999",
    "top": f"SELECT value FROM {ENDLESS} ORDER BY value % 1234577 LIMIT 10",
    "window": "SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY value % 10 ORDER BY value * 7919 % 1000003) "
    "AS r FROM range(60000000))",
    "window of a wide frame": "SELECT sum(m) FROM (SELECT max(value * 7919 % 1000003) OVER (ORDER BY value "
    "ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) AS m FROM range(10000000))",
    "recursive CTE": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000000) "
    "SELECT count(*) FROM r",
    "recursive CTE that doubles": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, "
    "(VALUES (1), (2)) v WHERE n < 60) SELECT count(*) FROM r",
    "unnest": "SELECT sum(x) FROM (SELECT unnest(range(0, 500)) AS x FROM range(1000000000))",
    "insert": f"INSERT INTO sink SELECT value FROM {ENDLESS}",
    "create table as": f"CREATE TABLE made AS SELECT value, value % 7 AS seven FROM {ENDLESS}",
    "system tables": "SELECT count(*) FROM system.jdbc.columns a, system.jdbc.columns b, system.jdbc.columns c "
    "WHERE a.ordinal_position + b.ordinal_position < c.ordinal_position - 1000",
    "rows on their way": f"SELECT value FROM {ENDLESS}",
}

_CLIENT = """
import sys
import adbc_driver_flightsql.dbapi as adbc
connection = adbc.connect(sys.argv[1], autocommit=True)
cursor = connection.cursor()
cursor.execute(sys.argv[2])
for batch in cursor.fetch_record_batch():
    pass
"""


def main() -> None:
    wanted = sys.argv[1:] or [""]
    with tempfile.TemporaryDirectory() as directory:
        here = Path(directory)
        config = here / "pinakes.toml"
        config.write_text(f"[engine]\nmemory_limit = '1GB'\nspill_dir = '{here}'\n")
        files = _files(here)
        for name, sql in QUERIES.items():
            if any(word in name for word in wanted):
                _measure(name, sql.format(**files), config)


def _files(here: Path) -> dict[str, str]:
    """Large files of each kind: one, and many names for it."""
    rows = "SELECT value AS id, concat('word ', value % 1000003) AS word FROM range(4000000)"
    for kind in ("parquet", "csv", "json"):
        (here / kind).mkdir()
        first = here / kind / f"0.{kind}"
        copy = f"COPY ({rows}) TO '{first}'"
        subprocess.run([sys.executable, "-m", "pinakes", "--data", ":memory:", "-c", copy], check=True)
        for number in range(1, 100):
            (here / kind / f"{number}.{kind}").hardlink_to(first)
    return {kind: str(here / kind / f"*.{kind}") for kind in ("parquet", "csv", "json")}


def _measure(name: str, sql: str, config: Path) -> None:
    with serving("--config", str(config)) as server:
        _prepare(server)
        began, memory = server.cpu(), server.resident()
        client = subprocess.Popen([sys.executable, "-c", _CLIENT, server.uri, sql], stderr=subprocess.PIPE)
        eventually(lambda: server.cpu() - began > BUSY or client.poll() is not None)
        if client.poll() is not None:
            assert client.stderr is not None
            print(f"{name}: it was over before it could be stopped: {client.stderr.read().decode()[-300:]}")
            return
        client.kill()
        killed = time.monotonic()
        client.wait()
        idle = _idle_after(server, killed)
        most = server.resident()
        free = _free_after(server, killed, memory + SLACK)
    print(f"{name}: {(most - memory) / (1 << 20):.0f} MB were in use when it was idle")
    promise("idle after", idle, 1.0, " s")
    promise("memory free after", free, 5.0, " s")


def _prepare(server: Serving) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE sink (n BIGINT)")
        cursor.execute("CREATE TABLE x AS SELECT value AS id FROM range(100000)")
        cursor.execute("SELECT sum(value) FROM range(1000000)")
        cursor.fetchall()


def _idle_after(server: Serving, since: float) -> float:
    """Seconds until the first moment of a window in which the server did nothing."""
    while True:
        before, began = server.cpu(), time.monotonic()
        time.sleep(WINDOW)
        if server.cpu() - before <= IDLE * WINDOW or began - since > GIVE_UP:
            return began - since


def _free_after(server: Serving, since: float, limit: int) -> float:
    while server.resident() > limit and time.monotonic() - since < GIVE_UP:
        time.sleep(WINDOW)
    return time.monotonic() - since


if __name__ == "__main__":
    main()
