"""Large files flow through: what is in memory does not grow with them, and nobody is kept waiting for the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pinakes

ROWS = 2_000_000
MOST = 160_000_000
"""Bytes that Arrow may hold at any time: some blocks, however long the file is."""


@pytest.fixture(scope="module")
def con() -> Iterator[pinakes.Connection]:
    with pinakes.connect(data=":memory:") as connection:
        yield connection


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("large")
    text = "x" * 100
    (directory / "rows.csv").write_text("id,text\n" + f"1,{text}\n" * ROWS)
    (directory / "rows.jsonl").write_text(f'{{"id": 1, "text": "{text}"}}\n' * ROWS)
    (directory / "rows.json").write_text("[" + f'{{"id": 1, "text": "{text}"}},\n' * 99_999 + '{"id": 1}]')
    batch = pa.record_batch({"id": pa.array(range(10_000)), "text": pa.array([text] * 10_000)})
    with pa.ipc.new_file(directory / "rows.arrow", batch.schema) as writer:
        for _ in range(ROWS // 10_000):
            writer.write_batch(batch)
    return directory


@pytest.mark.parametrize(
    ("name", "rows"), [("rows.csv", ROWS), ("rows.jsonl", ROWS), ("rows.arrow", ROWS), ("rows.json", 100_000)]
)
def test_memory_stays_flat(con: pinakes.Connection, files: Path, name: str, rows: int) -> None:
    before = pa.total_allocated_bytes()
    count = most = 0
    for batch in con.sql(f"SELECT * FROM '{files / name}'").reader():
        count += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
    assert count == rows
    assert most < MOST


def test_a_limit_reads_only_the_beginning(con: pinakes.Connection, files: Path) -> None:
    """What is wrong at the end of a file is not met when only its first rows are wanted."""
    (files / "late.csv").write_text("id,text\n" + f"1,{'x' * 100}\n" * 600_000 + "one,two,three\n")
    assert con.sql(f"SELECT * FROM '{files / 'late.csv'}' LIMIT 3").arrow().num_rows == 3
    with pytest.raises(pinakes.Error, match="line 600002"):
        con.sql(f"SELECT * FROM '{files / 'late.csv'}'").arrow()


def test_many_files_are_one_scan(con: pinakes.Connection, tmp_path: Path) -> None:
    """The plan of a scan is put together by hand: each file is in it once, whatever its name."""
    names = ["plain", "with space", "c[1]", "d%20", "é#?", "g*", "it's", "a+b&c=d"]
    for i, name in enumerate(names):
        pq.write_table(pa.table({"i": [i]}), tmp_path / f"{name}.parquet")
    found = con.sql(f"SELECT i FROM '{tmp_path}/*.parquet' ORDER BY i").arrow()
    assert found["i"].to_pylist() == list(range(len(names)))
    found = con.sql("SELECT i FROM read_parquet($1)", [[str(tmp_path / "c[1].parquet")]]).arrow()
    assert found["i"].to_pylist() == [2]
    plan = "".join(con.sql(f"EXPLAIN SELECT i FROM '{tmp_path}/*.parquet' WHERE i > 3").arrow()["plan"].to_pylist())
    assert plan.count("DataSourceExec") == 1
    assert "pruning_predicate" in plan


def test_a_file_that_grows_between_two_statements(con: pinakes.Connection, tmp_path: Path) -> None:
    path = tmp_path / "grows.parquet"
    for rows in (1, 5, 3):
        pq.write_table(pa.table({"i": list(range(rows))}), path)
        assert con.sql(f"SELECT count(*) AS n, max(i) AS m FROM '{path}'").fetchall() == [(rows, rows - 1)]


def test_a_statement_that_looks_for_types_can_be_stopped(files: Path) -> None:
    """Types are found out while planning; with sample_size => -1 that is the whole file."""
    with pinakes.connect(data=":memory:", statement_timeout=0.3) as connection:
        slow = f"SELECT count(*) FROM read_json('{files / 'rows.jsonl'}', sample_size => -1)"
        with pytest.raises(pinakes.Error, match="statement_timeout"):
            connection.sql(slow).arrow()
        assert connection.sql("SELECT 1").fetchall() == [(1,)]
