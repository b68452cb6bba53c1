"""A client of a server that is going to be killed: it inserts and ingests, and prints what was acknowledged."""

from __future__ import annotations

import sys
import threading

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa

ROWS = 2_000
"""Of each statement: all have the same number in the column `v`."""
CREATE = [
    "CREATE TABLE IF NOT EXISTS inserted (id BIGINT, v BIGINT)",
    "CREATE TABLE IF NOT EXISTS ingested (id BIGINT, v BIGINT)",
]


def inserting(cursor: adbc.Cursor, number: int) -> None:
    cursor.execute(f"INSERT INTO inserted SELECT value, {number} FROM range({ROWS})")


def ingesting(cursor: adbc.Cursor, number: int) -> None:
    cursor.adbc_ingest("ingested", pa.table({"id": range(ROWS), "v": [number] * ROWS}), mode="append")


def work(uri: str, what: str, first: int) -> None:
    change = {"inserted": inserting, "ingested": ingesting}[what]
    connection = adbc.connect(uri, autocommit=True)
    cursor = connection.cursor()
    for number in range(first, first + 10_000):
        change(cursor, number)
        sys.stdout.write(f"{what} {number}\n")
        sys.stdout.flush()


def main(uri: str, first: int) -> None:
    with adbc.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        for sql in CREATE:
            cursor.execute(sql)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for what in ("inserted", "ingested"):
        threading.Thread(target=work, args=(uri, what, first)).start()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
