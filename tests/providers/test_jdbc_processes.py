"""Many processes committing to one table through PostgreSQL: every commit once, none lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pinakes.providers.jdbc import JdbcCatalog
from tests.providers.catalog_suite import SCHEMA, ids_in
from tests.providers.databases import empty_database
from tests.servers.base import Facts

pytestmark = pytest.mark.slow

# All wait for each other, then append to the same table, one row each time.
WORKER = """
import logging, sys, time
from pathlib import Path
import pyarrow as pa
from pinakes.providers.registry import open_catalog

logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # it tells of every retry
location, directory, number, steps, processes = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])
catalog = open_catalog("jdbc", "c", location, {"WAREHOUSE": str(directory / "warehouse"), "MAX_CONNECTIONS": 1})
catalog.load_table(("n",), "shared")
(directory / f"ready{number}").touch()
while len(list(directory.glob("ready*"))) < processes:
    time.sleep(0.01)
for step in range(steps):
    row = pa.table({"id": pa.array([number * 1000 + step], pa.int64()), "word": ["x"]})
    catalog.load_table(("n",), "shared").handle.append(row)
catalog.close()
"""


@pytest.mark.parametrize(
    ("processes", "steps"), [pytest.param(4, 4, id="sample"), pytest.param(16, 10, id="full", marks=pytest.mark.long)]
)
def test_processes_append_to_one_table(postgres_server: Facts, tmp_path: Path, processes: int, steps: int) -> None:
    with empty_database(postgres_server) as database:
        catalog = JdbcCatalog.open("c", database.location, {"WAREHOUSE": str(tmp_path / "warehouse")})
        catalog.create_namespace(("n",), {})
        patient = {
            "commit.retry.num-retries": "500",
            "commit.retry.min-wait-ms": "5",
            "commit.retry.max-wait-ms": "200",
        }
        patient["commit.retry.total-timeout-ms"] = "1800000"
        catalog.inner.create_table(("n", "shared"), SCHEMA, properties=patient)
        program = [sys.executable, "-W", "error", "-c", WORKER, database.location, str(tmp_path)]
        started = [
            subprocess.Popen([*program, str(number), str(steps), str(processes)], stderr=subprocess.PIPE, text=True)
            for number in range(processes)
        ]
        ended = [process.communicate()[1] for process in started]
        assert [(process.returncode, said) for process, said in zip(started, ended, strict=True)] == [
            (0, "")
        ] * processes
        table = catalog.load_table(("n",), "shared")
        assert ids_in(table) == [number * 1000 + step for number in range(processes) for step in range(steps)]
        # One snapshot for each commit, in one line.
        snapshots = table.handle.snapshots()
        assert len(snapshots) == processes * steps
        assert [s.parent_snapshot_id for s in snapshots] == [None, *(s.snapshot_id for s in snapshots[:-1])]
        catalog.close()
