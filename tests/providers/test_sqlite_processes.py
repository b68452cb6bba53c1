"""Several processes on one SQLite file: all of them get on, and nothing is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pinakes.providers.sqlite import SqliteCatalog
from tests.providers.catalog_suite import SPEC, ids_in

pytestmark = pytest.mark.slow

STEPS = 6

# Both open the file at the same moment (one of them makes it), wait for each other, then work on the same things.
WORKER = """
import logging, sys, time
from pathlib import Path
import pyarrow as pa
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pinakes.core.catalog import TableSpec
from pinakes.core.errors import NamespaceExists, TableExists
from pinakes.providers.registry import open_catalog

logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # it tells of every retry
directory, number, steps = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
(directory / f"ready{number}").touch()
while len(list(directory.glob("ready*"))) < 2:
    time.sleep(0.002)
catalog = open_catalog("sqlite", "lake", str(directory / "lake"), {})
patient = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "20"}
spec = TableSpec(Schema(NestedField(1, "id", LongType(), required=False)), UNPARTITIONED_PARTITION_SPEC, patient)
won = []
for make, error in (
    (lambda: catalog.create_namespace(("n",), {"maker": str(number)}), NamespaceExists),
    (lambda: catalog.create_table(("n",), "shared", spec), TableExists),
):
    try:
        make()
        won.append("1")
    except error:
        won.append("0")
for step in range(steps):
    catalog.create_table(("n",), f"own_{number}_{step}", spec)
    catalog.load_table(("n",), "shared").handle.append(pa.table({"id": pa.array([number * 100 + step], pa.int64())}))
catalog.close()
print("".join(won))
"""


def test_two_processes_make_and_append(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WORKER, str(tmp_path), str(number), str(STEPS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in (0, 1)
    ]
    ended = [process.communicate(timeout=120) for process in started]
    assert [(process.returncode, err) for process, (_, err) in zip(started, ended, strict=True)] == [(0, ""), (0, "")]
    first, second = (out.strip() for out, _ in ended)
    # Each thing was made by exactly one of the two, and the other was told so.
    assert [int(a) + int(b) for a, b in zip(first, second, strict=True)] == [1, 1]
    catalog = SqliteCatalog.open("lake", str(tmp_path / "lake"), {})
    assert ids_in(catalog.load_table(("n",), "shared")) == [n * 100 + step for n in (0, 1) for step in range(STEPS)]
    own = [f"own_{n}_{step}" for n in (0, 1) for step in range(STEPS)]
    assert catalog.list_tables(("n",)) == [*own, "shared"]
    catalog.close()
    with closing(sqlite3.connect(tmp_path / "lake" / "catalog.db")) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_process_that_is_killed_within_a_transaction_changes_nothing(tmp_path: Path) -> None:
    catalog = SqliteCatalog.open("lake", str(tmp_path), {})
    catalog.create_namespace(("n",), {})
    program = f"""
import os, signal
from pathlib import Path
from pinakes.providers.sql_catalog.sqlite import SqliteStore
from pinakes.providers.sql_catalog.store import ObjectKey
store = SqliteStore.open(Path({str(tmp_path / "catalog.db")!r}), "lake")
def body():
    store.insert("TABLE", ObjectKey("n", "half"), "m")
    os.kill(os.getpid(), signal.SIGKILL)
store.run_in_transaction(body)
"""
    killed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert killed.returncode == -9
    assert catalog.list_tables(("n",)) == []
    catalog.create_table(("n",), "whole", SPEC)  # and the lock is free again
    assert catalog.list_tables(("n",)) == ["whole"]
    catalog.close()
