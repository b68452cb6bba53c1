"""The project that `pinakes pipeline init` creates: a small one that runs."""

from __future__ import annotations

from pathlib import Path

from pinakes.core.errors import InvalidArgument

_FILES = {
    "spec.yml": """\
# A pipeline: `pinakes pipeline run spec.yml`. The keys are those of Spark's declarative pipelines; loads and
# expectations are added here.
name: {name}
catalog: lake
database: {name}
libraries:
  - glob:
      include: transformations/**
loads:
  - table: raw_orders
    path: data/*.csv
    format: csv
    options:
      header: true
    columns: id INT, customer STRING, amount DECIMAL(10, 2), ordered_on DATE
expectations:
  orders:
    - name: has_customer
      expect: customer IS NOT NULL
      action: warn
""",
    "data/orders.csv": """\
id,customer,amount,ordered_on
1,ada,12.50,2026-01-01
2,grace,8.00,2026-01-01
3,ada,-1.00,2026-01-02
4,,3.25,2026-01-02
""",
    "transformations/orders.sql": """\
CREATE MATERIALIZED VIEW orders (
  CONSTRAINT positive EXPECT (amount > 0) ON VIOLATION DROP ROW
) AS
SELECT id, customer, amount, ordered_on FROM raw_orders;
""",
    "transformations/daily.py": """\
from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()


@dp.materialized_view(comment="What was sold on each day")
def daily() -> DataFrame:
    orders = spark.table("orders")
    return orders.groupBy("ordered_on").agg(F.count("*").alias("orders"), F.sum("amount").alias("amount"))
""",
}


def make_project(directory: Path) -> Path:
    """Creates a project and returns its spec. A directory that is not empty is an error."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InvalidArgument(f"{str(directory)!r} is there already, and not empty: name a new directory")
    name = "".join(c if c.isalnum() else "_" for c in directory.resolve().name.lower()) or "pipeline"
    for path, text in _FILES.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{name}", name))
    return directory / "spec.yml"
