"""The example pipeline, killed at some point and run again: its tables are as if nothing had happened.

What is killed: Pinakes itself, while the Spark that works for it goes on; the driver, which is the Spark that a run
started for itself; an executor of a cluster, which Spark gets over by itself or not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.runs.example import TABLES, Shop, generate, kill_when, killed
from tests.pipeline.support import javas
from tests.servers.base import Facts

pytestmark = pytest.mark.slow

ROWS = 4_000
DRIVER, EXECUTOR = "SparkConnectServer", "CoarseGrainedExecutorBackend"
SOME = (0.5, 3.0)
TEN = tuple(round(0.2 + step * 0.9, 1) for step in range(10))
"""Seconds after a run has begun: some ten in all is what one takes on an idle machine."""

Make = Callable[[Facts | None], Shop]


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("raw")
    generate(found, ROWS)
    return found


@pytest.fixture(scope="module")
def make(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    numbers = itertools.count()

    def new(spark: Facts | None) -> Shop:
        return Shop(tmp_path_factory.mktemp(f"shop{next(numbers)}"), raw, spark)

    return new


@pytest.fixture(scope="module")
def undisturbed(make: Make, spark_connect_server: Facts) -> dict[str, pa.Table]:
    shop = make(spark_connect_server)
    shop.run()
    found = shop.tables()
    assert all(found[name].num_rows for name in TABLES)
    return found


def check(shop: Shop, undisturbed: dict[str, pa.Table]) -> None:
    """After the run that follows."""
    shop.run()
    found = shop.tables()
    for name in TABLES:
        assert found[name].equals(undisturbed[name]), f"{name} differs\n{shop.said()}"
    assert "RUNNING" not in shop.states()
    assert shop.states()[-1] == "COMPLETED"


def pinakes_is_killed(delay: float, make: Make, spark: Facts, undisturbed: dict[str, pa.Table]) -> None:
    shop = make(spark)
    process = shop.start()
    kill_when(process, shop.has_begun, delay, killed(process))
    process.wait(60)
    check(shop, undisturbed)


def driver_is_killed(delay: float, make: Make, undisturbed: dict[str, pa.Table]) -> None:
    shop = make(None)
    process = shop.start()

    def kill() -> None:
        for java in javas(process.pid, DRIVER):
            java.kill()

    kill_when(process, shop.has_begun, delay, kill)
    process.wait(400)
    check(shop, undisturbed)


def executor_is_killed(delay: float, make: Make, cluster: Facts, undisturbed: dict[str, pa.Table]) -> None:
    shop = make(cluster)
    process = shop.start()

    def kill() -> None:
        for worker in cluster["workers"].split(","):
            for java in javas(int(worker), EXECUTOR)[:1]:
                java.kill()
                return

    kill_when(process, shop.has_begun, delay, kill)
    process.wait(400)
    check(shop, undisturbed)


@pytest.mark.parametrize("delay", SOME)
def test_pinakes_is_killed(
    delay: float, make: Make, spark_connect_server: Facts, undisturbed: dict[str, pa.Table]
) -> None:
    pinakes_is_killed(delay, make, spark_connect_server, undisturbed)


@pytest.mark.long
@pytest.mark.parametrize("delay", TEN)
def test_pinakes_is_killed_at_ten_points(
    delay: float, make: Make, spark_connect_server: Facts, undisturbed: dict[str, pa.Table]
) -> None:
    pinakes_is_killed(delay, make, spark_connect_server, undisturbed)


@pytest.mark.long
@pytest.mark.parametrize("delay", TEN)
def test_the_driver_is_killed_at_ten_points(delay: float, make: Make, undisturbed: dict[str, pa.Table]) -> None:
    driver_is_killed(delay, make, undisturbed)


@pytest.mark.long
@pytest.mark.parametrize("delay", TEN)
def test_an_executor_is_killed_at_ten_points(
    delay: float, make: Make, spark_cluster_server: Facts, undisturbed: dict[str, pa.Table]
) -> None:
    executor_is_killed(delay, make, spark_cluster_server, undisturbed)
