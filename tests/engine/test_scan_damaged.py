"""Damaged tables: an error that names the table and the file; others are not concerned; nothing is written; and when
the file is as it was, so is the table: a failure is not remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.manifest import ManifestContent

from pinakes.core.errors import DataCorrupt, InternalError, PinakesError
from pinakes.core.names import Name
from pinakes.engine.engine import Engine
from pinakes.engine.iceberg.scan.tasks import plan
from pinakes.engine.iceberg.scan.unreadable import reading
from pinakes.engine.session import Session
from tests.engine.delete_files import delete_equal, delete_positions, delete_vectors
from tests.engine.support import an_engine, do, rows

FILES_OF_A_TABLE = 20
ROWS = 2 * FILES_OF_A_TABLE
NUMBERS = f"unnest(range(0, {FILES_OF_A_TABLE})) AS u(x)"
Damage = Callable[[bytes], bytes | None]
"""What becomes of the bytes of a file; None if it goes."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with an_engine(tmp_path / "lake") as engine:
        yield engine


@pytest.fixture
def session(engine: Engine) -> Session:
    """Two tables with files of two rows; of `t`, a file each has a vector, positions and values."""
    session = engine.session()
    for name in ("t", "other"):
        do(session, f"CREATE TABLE {name} (a INT, s VARCHAR) PARTITIONED BY (a)")
        do(session, f"INSERT INTO {name} SELECT x, repeat(y, 500) FROM {NUMBERS}, (VALUES ('v'), ('w')) AS w(y)")
    do(session, "ALTER TABLE t SET TBLPROPERTIES ('format-version' = '3')")
    files = sorted(plan(table(session)), key=lambda task: task.file.partition[0])
    delete_positions(table(session).handle, files[0], [0, 1])
    field = pa.field("a", pa.int32(), metadata={"PARQUET:field_id": "1"})
    delete_equal(table(session).handle, files[1], pa.table([pa.array([1], pa.int32())], schema=pa.schema([field])), [1])
    delete_vectors(table(session).handle, [(files[2], [0, 1])])
    table(session)
    return session


def table(session: Session, name: str = "t") -> Any:
    return session.resolver.table(Name.of(name))[1]


def local(location: str) -> Path:
    return Path(location.removeprefix("file://"))


# --- which file --------------------------------------------------------------------------------------------------


def _metadata(session: Session) -> str:
    return str(table(session).handle.metadata_location)


def _manifest_list(session: Session) -> str:
    return str(table(session).handle.current_snapshot().manifest_list)


def _manifest(session: Session, content: ManifestContent) -> str:
    handle = table(session).handle
    found = handle.current_snapshot().manifests(handle.io)
    return next(str(m.manifest_path) for m in found if m.content == content)


def _data(session: Session, number: int) -> str:
    return next(str(t.file.file_path) for t in plan(table(session)) if t.file.partition[0] == number)


def _deletes(session: Session, number: int) -> str:
    return next(str(t.deletes.files[0].path) for t in plan(table(session)) if t.file.partition[0] == number)


FILES: dict[str, Callable[[Session], str]] = {
    "metadata": _metadata,
    "manifest list": _manifest_list,
    "data manifest": lambda session: _manifest(session, ManifestContent.DATA),
    "delete manifest": lambda session: _manifest(session, ManifestContent.DELETES),
    "data file": lambda session: _data(session, 7),
    "data file with deletes": lambda session: _data(session, 2),
    "positions": lambda session: _deletes(session, 0),
    "values": lambda session: _deletes(session, 1),
    "vector": lambda session: _deletes(session, 2),
}

DAMAGES: dict[str, Damage] = {
    "gone": lambda content: None,
    "empty": lambda content: b"",
    "cut in half": lambda content: content[: len(content) // 2],
    "end cut": lambda content: content[:-9],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: bytes((i * 197 + 31) % 251 for i in range(len(content))),
}


HARMLESS = {("vector", "end cut"), ("vector", "cut in half")}
"""What is read of the file is whole, which its checksum proves."""


def harm(path: Path, damage: Damage) -> bytes:
    """Damage a file; gives what it was."""
    content = path.read_bytes()
    damaged = damage(content)
    if damaged is None:
        path.unlink()
    else:
        path.write_bytes(damaged)
    return content


def all_files(directory: Path) -> set[Path]:
    """But those of the catalog's database, which come and go."""
    return {p for p in directory.rglob("*") if p.suffix in (".parquet", ".avro", ".json", ".puffin")}


@pytest.mark.parametrize(("kind", "damage"), [(k, d) for k in FILES for d in DAMAGES if (k, d) not in HARMLESS])
def test_a_damaged_file_is_named(engine: Engine, session: Session, tmp_path: Path, kind: str, damage: str) -> None:
    path = local(FILES[kind](session))
    before = all_files(tmp_path)
    engine.caches.clear()
    content = harm(path, DAMAGES[damage])
    for sql in ("SELECT * FROM t", "SELECT count(s) FROM t WHERE a >= 0"):
        with pytest.raises(DataCorrupt, match=r"\bt\b.*" + re.escape(path.name)) as error:
            rows(session, sql)
        assert "\n" not in error.value.message
    assert rows(session, "SELECT count(*), min(a) FROM other") == [(ROWS, 0)]
    assert all_files(tmp_path) | {path} == before | {path}
    path.write_bytes(content)
    assert rows(session, "SELECT count(*), min(a) FROM t") == [(ROWS - 6, 3)]


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind != "vector"])
def test_a_change_of_a_damaged_table_writes_nothing(
    engine: Engine, session: Session, tmp_path: Path, kind: str
) -> None:
    path = local(FILES[kind](session))
    engine.caches.clear()
    before = all_files(tmp_path)
    content = harm(path, DAMAGES["cut in half"])
    with pytest.raises(PinakesError, match=re.escape(path.name)):
        do(session, "DELETE FROM t WHERE a % 2 = 1 OR s = 'x'")
    assert all_files(tmp_path) == before
    path.write_bytes(content)
    assert rows(session, "SELECT count(*), min(a) FROM t") == [(ROWS - 6, 3)]


@pytest.mark.parametrize("number", [2, 7], ids=["with deletes", "clean"])
def test_a_page_that_is_damaged(session: Session, number: int) -> None:
    path = local(_data(session, number))
    column = pq.read_metadata(path).row_group(0).column(1)
    assert column.statistics.min != column.statistics.max, "of a constant only the footer is read"
    start = column.dictionary_page_offset or column.data_page_offset
    content = harm(path, lambda c: c[:start] + b"\xff" * 60 + c[start + 60 :])
    with pytest.raises(DataCorrupt, match=r"table default\.t: .*" + re.escape(path.name)):
        rows(session, "SELECT s FROM t")
    path.write_bytes(content)
    assert len(rows(session, "SELECT s FROM t")) == ROWS - 6


def test_a_sound_file_with_fewer_rows_in_place_of_one(session: Session) -> None:
    """Fewer rows than the metadata says are an error, also if the file is not shorter: of a file that pyiceberg reads.
    Of others DataFusion alone knows the number."""
    path = local(_data(session, 2))
    content = path.read_bytes()
    pq.write_table(pq.read_table(path).slice(0, 0), path, store_schema=True)
    if path.stat().st_size < len(content):
        more = pq.read_table(path).replace_schema_metadata({"filling": "x" * len(content)})
        pq.write_table(more, path)
    with pytest.raises(DataCorrupt, match=re.escape(path.name)):
        rows(session, "SELECT s FROM t")
    path.write_bytes(content)
    assert len(rows(session, "SELECT s FROM t")) == ROWS - 6


def test_a_pointer_to_nowhere_can_still_be_dropped(engine: Engine, session: Session) -> None:
    path = local(_metadata(session))
    engine.caches.clear()
    path.unlink()
    with pytest.raises(DataCorrupt, match=path.name):
        rows(session, "SELECT * FROM t")
    assert ("other",) in rows(session, "SHOW TABLES")


def test_metadata_of_another_kind(engine: Engine, session: Session) -> None:
    """It is JSON, and no table."""
    path = local(_metadata(session))
    engine.caches.clear()
    content = harm(path, lambda _: json.dumps({"format-version": 9, "location": "x"}).encode())
    with pytest.raises(DataCorrupt, match=path.name):
        rows(session, "SELECT * FROM t")
    path.write_bytes(content)
    assert rows(session, "SELECT count(*) FROM t") == [(ROWS - 6,)]


def test_a_mistake_of_ours_is_not_the_files_fault(session: Session) -> None:
    with pytest.raises(InternalError, match="NoneType"), reading(table(session), "some.avro"):
        _mistaken(None)
    with pytest.raises(DataCorrupt, match=r"some\.avro cannot be read"), reading(table(session), "some.avro"):
        json.loads("{")
    with pytest.raises(DataCorrupt, match=r"some\.avro cannot be read"), reading(table(session), "some.avro"):
        json.loads(None)  # type: ignore[arg-type]  # libraries raise TypeError, too


def _mistaken(value: Any) -> None:
    """Code of ours, as far as its module tells."""
    exec("value.rows", {"__name__": "pinakes.engine.iceberg.scan.some", "value": value})
