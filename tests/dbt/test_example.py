"""examples/dbt: a project over two catalogs, built twice, the second time incrementally; here and on Spark."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import adbc_driver_flightsql.dbapi as adbc
import pytest

from tests.dbt.environment import ROOT
from tests.dbt.projects import Project
from tests.flight.serving import Serving, serving

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "dbt"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy, with its customers in place."""
    ignored = shutil.ignore_patterns("warehouse", "target", "logs")
    copied = Path(shutil.copytree(EXAMPLE, tmp_path / "shop", ignore=ignored))
    command = [sys.executable, "-m", "pinakes", "--config", "pinakes.toml", "-f", "setup.sql"]
    done = subprocess.run(command, cwd=copied, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return copied


@pytest.fixture
def server(example: Path) -> Iterator[Serving]:
    config = ["--config", str(example / "pinakes.toml")]
    with serving(*config, data=str(example / "warehouse" / "lake")) as running:
        yield running


class Shop(Project):
    """The example with its own profile."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory, self.port = directory, port

    def build(self, *command: str) -> str:
        done = self.dbt(*command, PINAKES_PORT=str(self.port))
        assert done.code == 0, done.output
        return done.output


def rows(connection: adbc.Connection, sql: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_it_is_built_twice(dbt_python: Path, example: Path, server: Serving, engine: str) -> None:
    shop = Shop(example, server.port)
    chosen = ["--vars", f"engine: {engine}"]
    shop.build("build", *chosen)
    with server.connect() as connection:
        assert rows(connection, "SELECT count(*), sum(amount) FROM lake.shop.fct_orders")[0][0] == 3
        arrive(example, connection)
        shop.build("build", *chosen)
        assert_built(connection)
        for table in ("fct_orders", "fct_revenue", "dim_customers"):
            assert makers(connection, table) == {"spark" if engine == "spark" else "pinakes"}, table
    documented(shop)


def assert_built(connection: adbc.Connection) -> None:
    orders = rows(connection, "SELECT order_id, status, CAST(amount AS VARCHAR) FROM lake.shop.fct_orders ORDER BY 1")
    assert orders == [
        (1, "shipped", "12.50"),
        (2, "shipped", "19.90"),
        (3, "placed", "42.00"),
        (4, "placed", "5.00"),
    ]
    revenue = rows(connection, "SELECT CAST(month AS VARCHAR), country FROM lake.shop.fct_revenue ORDER BY 1, 2")
    assert revenue == [
        ("2024-01-01", "Germany"),
        ("2024-01-01", "United Kingdom"),
        ("2024-02-01", "Germany"),
    ]
    history = rows(
        connection, "SELECT id, country, dbt_valid_to IS NULL FROM lake.shop.customers_history ORDER BY 1, 3"
    )
    assert history == [(1, "GB", True), (2, "FR", False), (2, "DE", True), (3, "DE", True)]
    # January was the last month there, so it is told anew: the customer from France lives in Germany now.
    commits = rows(connection, 'SELECT operation FROM lake.shop."fct_revenue$snapshots" ORDER BY committed_at')
    assert len(commits) == 2


def makers(connection: adbc.Connection, table: str) -> set[str]:
    """The engines that wrote a table."""
    found = rows(connection, f'SELECT summary FROM lake.shop."{table}$snapshots"')
    return {dict(summary)["engine-name"] for (summary,) in found}


def arrive(example: Path, connection: adbc.Connection) -> None:
    """A month later: an order and a payment have come, and a customer has moved."""
    (example / "data/shop/orders/2024-02.csv").write_text(
        "id,customer_id,ordered_at,status\n4,3,2024-02-02T08:00:00,placed\n"
    )
    (example / "data/shop/payments/2024-02.csv").write_text("id,order_id,method,cents\n5,4,card,500\n")
    rows(connection, "UPDATE crm.people.customers SET country = 'DE', changed_at = TIMESTAMP '2024-02-01' WHERE id = 2")


def documented(shop: Shop) -> None:
    shop.build("docs", "generate")
    catalog = json.loads((shop.directory / "target" / "catalog.json").read_text())
    assert {"source.shop.shop.orders", "source.shop.crm.customers"} <= catalog["sources"].keys()
    orders = catalog["nodes"]["model.shop.fct_orders"]
    assert orders["metadata"]["comment"] == "One row per order, with what was paid for it"
    assert orders["columns"]["order_id"]["comment"] == "Number of the order"
    assert catalog["nodes"]["model.shop.stg_orders"]["columns"]["order_id"]["comment"] == "Number of the order"
    assert not catalog["errors"]
    shop.build("source", "freshness")
    fresh = json.loads((shop.directory / "target" / "sources.json").read_text())["results"]
    assert [(r["unique_id"], r["status"]) for r in fresh] == [("source.shop.crm.customers", "pass")]
