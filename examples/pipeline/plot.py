"""A picture of what the pipeline made: revenue of each week and country.

python examples/pipeline/plot.py --data DIR [--out revenue.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import pinakes

WEEKS = """
SELECT date_trunc('week', day) AS week, country, CAST(sum(revenue) AS DOUBLE) AS revenue
FROM lake.shop.daily_revenue WHERE country IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
"""


def plot(data: str, out: Path) -> None:
    with pinakes.connect(data=data) as connection, connection.cursor() as cursor:
        cursor.execute(WEEKS)
        rows = cursor.fetchall()
    figure, axes = plt.subplots(figsize=(9, 4.5))
    for country in sorted({row[1] for row in rows}):
        mine = [row for row in rows if row[1] == country]
        axes.plot([row[0] for row in mine], [row[2] for row in mine], marker="o", markersize=3, label=country)
    axes.set(title="Revenue by week and country", xlabel="week", ylabel="revenue")
    axes.legend(ncols=5, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.autofmt_xdate()
    figure.tight_layout()
    figure.savefig(out, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="directory of the catalog that the pipeline filled")
    parser.add_argument("--out", type=Path, default=Path("revenue.png"))
    given = parser.parse_args()
    plot(given.data, given.out)


if __name__ == "__main__":
    main()
