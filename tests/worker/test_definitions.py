"""What SQL tells a worker to change, and what a worker leaves to the engine to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pinakes
from pinakes.api.connection import Connection
from tests.worker.support import command

pytestmark = pytest.mark.slow
WORKER = Path(__file__).with_name("recording_worker.py")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with pinakes.connect(data=str(tmp_path / "data")) as connection:
        rows = "VALUES (1, 'one'), (2, 'two')"
        connection.execute(f"CREATE TABLE lake.default.base AS SELECT * FROM ({rows}) AS v(id, name)")
        location = connection.execute(
            "SELECT file FROM system.iceberg.metadata_log WHERE table_name = 'base' ORDER BY timestamp DESC LIMIT 1"
        ).fetchall()
        (tmp_path / "berg.txt").write_text(str(location[0][0]).removeprefix("file://"))
        connection.execute(f"ATTACH 'rec' (TYPE vgi, LOCATION '{command(WORKER, str(tmp_path))}')")
        yield connection


def told(directory: Path) -> list[list]:
    log = directory / "log.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    log.write_text("")
    return lines


def test_definitions_reach_the_worker(connection: Connection, tmp_path: Path):
    t = {"name": "t"}
    cases = {
        "CREATE SCHEMA rec.extra WITH ('comment' = 'more')": [
            ["schema_create", {"name": "extra", "on_conflict": "ERROR", "comment": "more"}]
        ],
        "DROP SCHEMA rec.extra": [["schema_drop", {"name": "extra"}]],
        "CREATE TABLE rec.main.made (a INT NOT NULL DEFAULT 1 + 1 COMMENT 'first', b VARCHAR) COMMENT 'whole'": [
            [
                "table_create",
                {
                    "name": "made",
                    "columns": [["a", "int32", {"default": "1 + 1", "comment": "first"}], ["b", "string", {}]],
                    "on_conflict": "ERROR",
                    "not_null_constraints": [0],
                },
            ],
            ["table_comment_set", {"name": "made", "comment": "whole"}],
        ],
        "ALTER TABLE rec.main.t ADD COLUMN c DOUBLE": [
            ["table_column_add", {**t, "column_definition": [["c", "double", {}]]}]
        ],
        "ALTER TABLE rec.main.t ADD COLUMN IF NOT EXISTS d DATE": [
            ["table_column_add", {**t, "column_definition": [["d", "date32[day]", {}]], "if_column_not_exists": True}]
        ],
        "ALTER TABLE rec.main.t DROP COLUMN NAME": [["table_column_drop", {**t, "column_name": "name"}]],
        "ALTER TABLE rec.main.t RENAME COLUMN id TO no": [
            ["table_column_rename", {**t, "column_name": "id", "new_column_name": "no"}]
        ],
        "ALTER TABLE rec.main.t ALTER COLUMN id TYPE VARCHAR": [
            ["table_column_type_change", {**t, "column_definition": [["id", "string", {}]]}]
        ],
        "ALTER TABLE rec.main.t ALTER COLUMN id SET DEFAULT now()": [
            ["table_column_default_set", {**t, "column_name": "id", "expression": "now()"}]
        ],
        "ALTER TABLE rec.main.t ALTER COLUMN id DROP DEFAULT": [
            ["table_column_default_drop", {**t, "column_name": "id"}]
        ],
        "ALTER TABLE rec.main.t ALTER COLUMN id SET NOT NULL": [["table_not_null_set", {**t, "column_name": "id"}]],
        "ALTER TABLE rec.main.t ALTER COLUMN id DROP NOT NULL": [["table_not_null_drop", {**t, "column_name": "id"}]],
        "ALTER TABLE rec.main.t RENAME TO u": [["table_rename", {**t, "new_name": "u"}]],
        "COMMENT ON TABLE rec.main.t IS 'x'": [["table_comment_set", {**t, "comment": "x"}]],
        "COMMENT ON COLUMN rec.main.t.id IS 'y'": [
            ["table_column_comment_set", {**t, "column_name": "id", "comment": "y"}]
        ],
        "DROP TABLE rec.main.t": [["table_drop", t]],
        "CREATE VIEW rec.main.w AS SELECT one FROM v": [
            ["view_create", {"name": "w", "definition": "SELECT one FROM v", "on_conflict": "ERROR"}]
        ],
        "ALTER VIEW rec.main.v RENAME TO w": [["view_rename", {"name": "v", "new_name": "w"}]],
        "COMMENT ON VIEW rec.main.v IS 'z'": [["view_comment_set", {"name": "v", "comment": "z"}]],
        "DROP VIEW rec.main.v": [["view_drop", {"name": "v"}]],
    }
    for sql, expected in cases.items():
        connection.execute(sql)
        assert told(tmp_path) == expected, sql


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO rec.main.t VALUES (1, 'x')",
        "UPDATE rec.main.t SET id = 1",
        "DELETE FROM rec.main.t",
        "TRUNCATE TABLE rec.main.t",
        "MERGE INTO rec.main.t USING lake.default.base b ON t.id = b.id WHEN MATCHED THEN DELETE",
        "CREATE TABLE rec.main.x AS SELECT 1 AS a",
        "ALTER TABLE rec.main.t ADD PARTITION FIELD id",
        "CREATE TABLE rec.main.x (a INT) PARTITIONED BY (a)",
        "COMMENT ON SCHEMA rec.main IS 'x'",
    ],
)
def test_limits_are_reported(connection: Connection, tmp_path: Path, sql: str):
    with pytest.raises(pinakes.Error) as raised:
        connection.execute(sql)
    assert getattr(raised.value, "code", "") == "NOT_SUPPORTED", repr(raised.value)
    assert told(tmp_path) == []


def test_what_a_worker_leaves_to_the_engine(connection: Connection, tmp_path: Path):
    (tmp_path / "files").mkdir()
    for number, name in enumerate(("a", "b")):
        table = pa.table({"name": [name], "more": [1.5], "id": pa.array([number], pa.int32())})
        pq.write_table(table, tmp_path / "files" / f"{name}.parquet")
    (tmp_path / "t.csv").write_text("id;name\n7;seven\n")
    (tmp_path / "t.json").write_text('{"id": 8, "name": "eight"}\n')

    def rows(table: str) -> list[tuple]:
        return connection.execute(f"SELECT * FROM rec.main.{table} ORDER BY id").fetchall()

    assert rows("files") == [(0, "a"), (1, "b")]
    assert str(connection.execute("SELECT id FROM rec.main.files").arrow().schema.field("id").type) == "int64"
    assert rows("texts") == [(7, "seven")]
    assert rows("lines") == [(8, "eight")]
    assert rows("mounted") == [(1, "one"), (2, "two")]
    assert rows("berg") == [(1, "one"), (2, "two")]
    with pytest.raises(Exception, match="postgres_scan"):
        rows("unknown")


def test_the_past_is_the_worker_s(connection: Connection):
    version = connection.execute("SELECT * FROM rec.main.past FOR VERSION AS OF 7").fetchall()
    assert version == [("VERSION", "7")]
    moment = connection.execute("SELECT * FROM rec.main.past FOR TIMESTAMP AS OF '2024-01-31 12:00:00'").fetchall()
    assert moment[0][0] == "TIMESTAMP"
    assert moment[0][1].startswith("2024-01-31T12:00:00")
    assert connection.execute("SELECT * FROM rec.main.past").fetchall() == [(None, None)]
