"""A process that is going to be killed: it carries out one change, again and again, on a data directory."""

from __future__ import annotations

import os
from multiprocessing.connection import Connection
from pathlib import Path

from tests.engine.support import an_engine, do

ROWS = 20_000
"""Of each state of the table. A state is one number in the column `v` of every row."""

CHANGES = {
    "insert": "INSERT INTO t SELECT value, {new} FROM range(20000)",
    "update": "UPDATE t SET v = {new}",
    "merge": "MERGE INTO t USING (SELECT value AS id FROM range(20000)) AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = {new} WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, {new})",
    "replace": "CREATE OR REPLACE TABLE t AS SELECT value AS id, CAST({new} AS BIGINT) AS v FROM range(20000)",
    "delete": "DELETE FROM t WHERE id >= 20000 - {number} * 20",
    "transaction": "BEGIN; UPDATE t SET v = {new}; UPDATE u SET v = {new}; COMMIT",
    "compact": "UPDATE t SET v = {new}; CALL system.rewrite_data_files('t', options => map('rewrite-all', 'true'))",
    "create": "CREATE TABLE t{new} AS SELECT value AS id, {new} AS v FROM range(20000)",
}


def work(directory: Path, change: str, pipe: Connection) -> None:
    """Says "ready" when it begins, and the number of each change when it was acknowledged."""
    with an_engine(directory) as engine:
        session = engine.session()
        pipe.send("ready")
        for number in range(1, 1000):
            new = number * 1000 + os.getpid() % 1000
            for statement in CHANGES[change].format(new=new, number=number).split(";"):
                do(session, statement)
            pipe.send(number if change == "delete" else new)
