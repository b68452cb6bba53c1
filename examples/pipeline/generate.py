"""Raw data for the example: orders as CSV files, customers as JSON; some records are not what they should be.

    python examples/pipeline/generate.py [--rows 3000000] [--files 12] [--into examples/pipeline/data]

The same arguments give the same files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pinakes

ORDERS = """
SELECT value AS order_id,
       CASE WHEN value % 997 = 0 THEN NULL ELSE (value * 7919) % {customers} END AS customer_id,
       CASE WHEN value % 2003 = 0 THEN NULL ELSE
       CASE (value * 31) % 7 WHEN 0 THEN ' Tea' WHEN 1 THEN 'coffee' WHEN 2 THEN 'Bread' WHEN 3 THEN 'cheese '
            WHEN 4 THEN 'olives' WHEN 5 THEN 'Wine' ELSE 'oil' END END AS product,
       CASE WHEN value % 1009 = 0 THEN -1 ELSE 1 + (value * 13) % 9 END AS quantity,
       CASE WHEN value % 1013 = 0 THEN 'n/a'
            ELSE CAST(CAST((1 + (value * 17) % 2500) / 100.0 AS DECIMAL(10, 2)) AS VARCHAR) END AS price,
       to_timestamp(1767225600 + (value * 7) % 15552000) AS ordered_at
FROM generate_series({first}, {last})
"""
CUSTOMERS = """
SELECT value AS customer_id, 'Customer ' || CAST(value AS VARCHAR) AS name,
       CASE value % 5 WHEN 0 THEN 'gr' WHEN 1 THEN 'eg' WHEN 2 THEN 'it' WHEN 3 THEN 'fr' ELSE 'de' END AS country
FROM generate_series(0, {customers} - 1)
"""


def generate(into: Path, rows: int, files: int) -> None:
    """Orders in so many files, of so many rows together, and a customer for every ten of them."""
    customers = max(10, rows // 10)
    for name in ("orders", "customers"):
        (into / name).mkdir(parents=True, exist_ok=True)
    with pinakes.connect(data=":memory:") as connection, connection.cursor() as cursor:
        cursor.execute(
            f"COPY ({CUSTOMERS.format(customers=customers)}) TO '{into}/customers/part-0.json' (FORMAT jsonl)"
        )
        for number in range(files):
            first, last = number * rows // files + 1, (number + 1) * rows // files
            query = ORDERS.format(customers=customers, first=first, last=last)
            target = into / "orders" / f"part-{number:03}.csv"
            cursor.execute(f"COPY ({query}) TO '{target}' (FORMAT csv, HEADER true)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--into", type=Path, default=Path(__file__).parent / "data")
    given = parser.parse_args()
    generate(given.into, given.rows, given.files)
    print(f"{given.rows:,} orders in {given.files} files: {given.into}")


if __name__ == "__main__":
    main()
