"""What load.py and soak.py share: a server of its own with users and data, its clients, what the process takes."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
from _tpch import QUERIES

USERS = [f"user{n}" for n in range(5)]
HEADER = "adbc.flight.sql.authorization_header"
TPCH = (1, 3, 6, 12, 14, 18)
"""The queries of the mix."""


@dataclass
class Server:
    process: subprocess.Popen[str]
    uri: str
    metrics: str

    def connect(self, user: str) -> adbc.Connection:
        return adbc.connect(self.uri, db_kwargs={HEADER: f"Bearer {user}-token"}, autocommit=True)

    def resident(self) -> float:
        """Megabytes of memory in use."""
        return int(re.search(r"VmRSS:\s+(\d+)", self._read("status"))[1]) / 1024  # type: ignore[index]

    def threads(self) -> int:
        return int(re.search(r"Threads:\s+(\d+)", self._read("status"))[1])  # type: ignore[index]

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))  # noqa: PTH208 - only their number

    def _read(self, name: str) -> str:
        return Path(f"/proc/{self.process.pid}/{name}").read_text()


@contextmanager
def server(directory: Path, settings: str = "") -> Iterator[Server]:
    """`pinakes serve` on a directory, with a token for each user."""
    tokens = "".join(f'{user} = "{user}-token"\n' for user in USERS)
    config = directory / "pinakes.toml"
    config.write_text(f"[server]\nadministrators = ['{USERS[0]}']\n[server.tokens]\n{tokens}{settings}")
    command = [sys.executable, "-m", "pinakes", "serve", "--port", "0", "--config", str(config)]
    process = subprocess.Popen([*command, "--data", str(directory / "lake")], stderr=subprocess.PIPE, text=True)
    err = process.stderr
    assert err is not None
    said: list[str] = []
    for line in err:
        said.append(line)
        if line.startswith("There is"):
            break
    found = re.search(r"Listening on (\S+)", "".join(said)), re.search(r"metrics: (\S+)/health", "".join(said))
    if found[0] is None or found[1] is None:
        raise SystemExit("".join(said))
    threading.Thread(target=lambda: [sys.stderr.write(line) for line in err], daemon=True).start()
    try:
        yield Server(process, found[0][1], found[1][1])
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def load_tables(of: Server, data: Path) -> None:
    """The tables of TPC-H, and one that each user ingests into."""
    with of.connect(USERS[0]) as connection, connection.cursor() as cursor:
        for file in sorted(data.glob("*.parquet")):
            cursor.execute(f"CREATE TABLE {file.stem} AS SELECT * FROM '{file}'")
        for user in USERS:
            cursor.execute(f"CREATE TABLE loaded_{user} (id BIGINT, v DOUBLE)")


@dataclass
class Taken:
    """What one kind of statement took, by user, and what failed."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, user: str, call: Callable[[], object]) -> None:
        began = time.perf_counter()
        try:
            call()
        except adbc.Error as error:
            with self.lock:
                self.failures.append(str(error)[:200])
            return
        with self.lock:
            self.seconds.setdefault(user, []).append(time.perf_counter() - began)

    @property
    def all(self) -> list[float]:
        return [s for per_user in self.seconds.values() for s in per_user]


def ask(connection: adbc.Connection, sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return len(cursor.fetch_arrow_table())


def _metadata(connection: adbc.Connection, user: str, dice: random.Random) -> object:
    what = dice.randrange(3)
    if what == 0:
        return connection.adbc_get_objects(depth="tables", catalog_filter="lake").read_all()
    if what == 1:
        return ask(connection, "SHOW TABLES")
    return ask(connection, "SELECT * FROM lake.information_schema.columns WHERE table_name = 'orders'")


def _point(connection: adbc.Connection, user: str, dice: random.Random) -> object:
    return ask(connection, f"SELECT * FROM orders WHERE o_orderkey = {dice.randrange(60_000)}")


def _tpch(connection: adbc.Connection, user: str, dice: random.Random) -> object:
    return ask(connection, QUERIES[dice.choice(TPCH)])


def _ingest(connection: adbc.Connection, user: str, dice: random.Random) -> object:
    first = dice.randrange(10**9)
    rows = pa.table({"id": range(first, first + 1000), "v": [dice.random() for _ in range(1000)]})
    with connection.cursor() as cursor:
        return cursor.adbc_ingest(f"loaded_{user}", rows, mode="append")


def _ping(connection: adbc.Connection, user: str, dice: random.Random) -> object:
    return ask(connection, "SELECT 1")


KINDS: dict[str, tuple[int, Callable[[adbc.Connection, str, random.Random], object]]] = {
    "select 1": (25, _ping),
    "metadata": (30, _metadata),
    "point": (25, _point),
    "tpch": (15, _tpch),
    "ingest": (5, _ingest),
}
"""Each kind's share of the mix, and how it is done."""


def client(of: Server, number: int, until: float, taken: dict[str, Taken]) -> None:
    """One client of the mix, until the time is over."""
    user, dice = USERS[number % len(USERS)], random.Random(number)
    names, weights = list(KINDS), [share for share, _ in KINDS.values()]
    with of.connect(user) as connection:
        while time.monotonic() < until:
            (kind,) = dice.choices(names, weights)
            taken[kind].run(user, lambda kind=kind: KINDS[kind][1](connection, user, dice))  # type: ignore[misc]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")
