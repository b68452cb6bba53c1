"""Files that are removed, cut or replaced between planning and the last row: an error that names them, never fewer
rows, and nothing of it in a table or a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pinakes.api.build import open_engine
from pinakes.config.model import parse_config
from pinakes.core.errors import DataCorrupt
from pinakes.engine import statement_context
from pinakes.engine.planning.plan import ExecutablePlan
from pinakes.engine.session import Session
from tests.engine.support import do, rows

FORMATS = ("parquet", "csv", "jsonl", "arrow")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    with open_engine(parse_config(f"[engine]\ndata = '{tmp_path / 'lake'}'", tmp_path)) as engine:
        yield engine.session()


def write(name: str, start: int, many: int = 100) -> None:
    values = list(range(start, start + many))
    match Path(name).suffix:
        case ".parquet":
            pq.write_table(pa.table({"a": values}), name)
        case ".arrow":
            feather.write_feather(pa.table({"a": values}), name, compression="uncompressed")
        case ".csv":
            Path(name).write_text("a\n" + "".join(f"{v}\n" for v in values))
        case _:
            Path(name).write_text("".join(f'{{"a": {v}}}\n' for v in values))


def remove(name: str) -> None:
    Path(name).unlink()


def cut(name: str) -> None:
    os.truncate(name, Path(name).stat().st_size // 2)


def replace(name: str) -> None:
    """By another of the same length."""
    write(f"new{Path(name).suffix}", 500)
    Path(f"new{Path(name).suffix}").replace(name)


def empty(name: str) -> None:
    write(name, 0, 1)


CHANGES = (remove, cut, replace, empty)


def then(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Let something happen between the planning of a statement and its first row."""
    planned = statement_context._check_files
    happened: list[bool] = []

    def between(plan: ExecutablePlan, *, tables: bool = True) -> None:
        planned(plan, tables=tables)
        if plan.files and not happened:
            happened.append(True)
            change()

    monkeypatch.setattr(statement_context, "_check_files", between)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("change", CHANGES)
def test_between_planning_and_reading(
    session: Session, monkeypatch: pytest.MonkeyPatch, format: str, change: Callable[[str], None]
) -> None:
    for number in range(3):
        write(f"{number}.{format}", 100 + number * 100)
    for sql in ("SELECT * FROM '{}'", "SELECT count(*) FROM '{}'", "SUMMARIZE '{}'"):
        write(f"1.{format}", 200)
        with monkeypatch.context() as patch:
            then(patch, lambda: change(f"1.{format}"))
            with pytest.raises(DataCorrupt, match=rf"1\.{format}' was"):
                rows(session, sql.format(f"[0-9].{format}"))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO kept SELECT a FROM '*.parquet'",
        "CREATE TABLE made AS SELECT a FROM '*.parquet'",
        "CREATE OR REPLACE TABLE kept AS SELECT a FROM '*.parquet'",
        "CREATE TEMP TABLE made AS SELECT a FROM '*.parquet'",
        "COPY kept FROM '*.parquet'",
        "COPY (SELECT a FROM '*.parquet') TO 'out.csv'",
        "COPY (SELECT a, a % 2 AS k FROM '*.parquet') TO 'out' (FORMAT csv, PARTITION_BY k)",
        "MERGE INTO kept USING '*.parquet' s ON kept.a = s.a WHEN MATCHED THEN DELETE",
        "MERGE INTO kept USING '*.parquet' s ON kept.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (s.a)",
        "UPDATE kept SET a = 0 FROM '*.parquet' s WHERE kept.a = s.a",
        "DELETE FROM kept WHERE a NOT IN (SELECT a FROM '*.parquet')",
    ],
)
def test_nothing_of_it_is_written(
    session: Session, monkeypatch: pytest.MonkeyPatch, sql: str, change: Callable[[str], None]
) -> None:
    do(session, "CREATE TABLE kept AS SELECT 250 AS a")
    for number in range(3):
        write(f"{number}.parquet", 100 + number * 100)
    with monkeypatch.context() as patch:
        then(patch, lambda: change("1.parquet"))
        with pytest.raises(DataCorrupt, match=r"1\.parquet' was"):
            do(session, sql)
    assert rows(session, "SELECT * FROM kept") == [(250,)]
    assert rows(session, "SHOW TABLES") == [("kept",)]
    assert not Path("out.csv").exists()
    assert not Path("out").exists()


def test_a_relation_that_is_read_later_is_not_of_other_files(session: Session) -> None:
    write("a.parquet", 0)
    planned = session.run("SELECT * FROM 'a.parquet'")
    replace("a.parquet")
    with pytest.raises(DataCorrupt, match=r"a\.parquet' was changed while"):
        planned.read_all()
    assert rows(session, "SELECT min(a) FROM 'a.parquet'") == [(500,)]


def test_a_file_may_be_copied_onto_itself(session: Session) -> None:
    write("a.parquet", 0)
    do(session, "COPY (SELECT a + 1 AS a FROM 'a.parquet') TO 'a.parquet'")
    assert rows(session, "SELECT min(a), count(*) FROM 'a.parquet'") == [(1, 100)]


def test_an_unread_tail_does_not_matter_to_who_closes_early(session: Session) -> None:
    write("a.csv", 0, 200_000)
    result = session.run("SELECT * FROM 'a.csv'")
    batches = iter(result)  # kept: a result whose iterator is gone is closed
    next(batches)
    remove("a.csv")
    result.close()


@pytest.mark.parametrize("names", [("b.parquet",), ("a.parquet", "b.parquet", "c.parquet")])
def test_a_broken_page_is_said_to_be_in_its_file(session: Session, names: tuple[str, ...]) -> None:
    for name in names:
        pq.write_table(pa.table({"a": list(range(20_000))}), name, compression="gzip", use_dictionary=False)
    content = bytearray(Path("b.parquet").read_bytes())
    content[2000:2100] = bytes(100)
    Path("b.parquet").write_bytes(content)
    with pytest.raises(DataCorrupt, match=r"b.parquet' can not be read: "):
        session.run("SELECT * FROM '*.parquet'").read_all()
