"""Merge-on-read: what is written for rows that go, that pyiceberg reads it as we do, and that it does not pile up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent
from pyiceberg.table import Table
from pyiceberg.table.puffin import PuffinFile

from pinakes.core.errors import DataCorrupt, InvalidArgument
from pinakes.core.names import Name
from pinakes.engine.iceberg.scan.positions import deleted_rows
from pinakes.engine.iceberg.scan.snapshot import files_of
from pinakes.engine.session import Session
from pinakes.providers.iceberg.v3.records import DataFileV3
from tests.engine.delete_files import delete_positions
from tests.engine.support import an_engine, do, in_order, rows

MODES = ", ".join(f"'write.{s}.mode' = 'merge-on-read'" for s in ("delete", "update", "merge"))


@pytest.fixture
def session() -> Iterator[Session]:
    with an_engine() as engine:
        yield engine.session()


def create(session: Session, version: int, more: str = "", name: str = "t") -> None:
    do(session, f"CREATE TABLE {name} (id INT, s VARCHAR) {more} WITH ('format-version' = '{version}', {MODES})")
    do(session, f"INSERT INTO {name} SELECT x, 's' || x FROM unnest(range(0, 1000)) AS u(x)")


def table(session: Session, name: str = "t") -> Table:
    return session.resolver.table(Name.of(name))[1].handle


def files(found: Table, content: ManifestContent) -> list[DataFile]:
    snapshot = found.current_snapshot()
    assert snapshot is not None
    manifests = [m for m in snapshot.manifests(found.io) if m.content == content]
    return [entry.data_file for m in manifests for entry in m.fetch_manifest_entry(found.io, discard_deleted=True)]


def deletes(session: Session) -> list[DataFile]:
    return files(table(session), ManifestContent.DELETES)


def ids_by_pyiceberg(session: Session) -> list[int]:
    found: list[int] = sorted(table(session).scan().to_arrow().column("id").to_pylist())
    return found


def summary(session: Session) -> dict[str, str]:
    snapshot = table(session).current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    return {"operation": snapshot.summary.operation.value, **snapshot.summary.additional_properties}


def test_positional_deletes_in_version_2(session: Session) -> None:
    create(session, 2)
    data = files(table(session), ManifestContent.DATA)
    assert do(session, "DELETE FROM t WHERE id % 2 = 0") == 500
    (file,) = deletes(session)
    assert file.content == DataFileContent.POSITION_DELETES
    assert (file.file_format, file.record_count) == (FileFormat.PARQUET, 500)
    assert files(table(session), ManifestContent.DATA) == data
    assert summary(session)["operation"] == "delete"
    assert summary(session)["added-position-deletes"] == "500"
    assert ids_by_pyiceberg(session) == list(range(1, 1000, 2))
    assert rows(session, "SELECT count(*), sum(id) FROM t") == [(500, 250_000)]


def test_the_next_delete_takes_the_former_in(session: Session) -> None:
    for version in (2, 3):
        create(session, version, name="t")
        do(session, "DELETE FROM t WHERE id < 100")
        do(session, "DELETE FROM t WHERE id BETWEEN 50 AND 149")
        (file,) = deletes(session)
        assert file.record_count == 150
        assert summary(session)["removed-position-deletes"] == "100"
        assert summary(session)["total-position-deletes"] == "150"
        assert ids_by_pyiceberg(session) == list(range(150, 1000))
        do(session, "DROP TABLE t")


def test_a_deletion_vector_in_version_3(session: Session) -> None:
    create(session, 3)
    do(session, "DELETE FROM t WHERE id % 10 = 3")
    (file,) = deletes(session)
    assert isinstance(file, DataFileV3)
    (data,) = files(table(session), ManifestContent.DATA)
    assert (file.file_format, file.referenced_data_file) == (FileFormat.PUFFIN, data.file_path)
    loaded, cache = session.resolver.table(Name.of("t"))[1], session.engine.caches.manifests
    (known,) = files_of(loaded, cache).deletes.values()
    assert list(deleted_rows(loaded, cache, data.file_path, known.positions)) == list(range(3, 1000, 10))
    with table(session).io.new_input(file.file_path).open() as stream:
        puffin = PuffinFile(stream.read())
    (blob,) = puffin.footer.blobs
    assert (blob.type, blob.offset, blob.length) == (
        "deletion-vector-v1",
        file.content_offset,
        file.content_size_in_bytes,
    )
    assert blob.properties == {"referenced-data-file": data.file_path, "cardinality": "100"}
    assert ids_by_pyiceberg(session) == [n for n in range(1000) if n % 10 != 3]


def test_one_vector_for_each_file_in_one_puffin_file(session: Session) -> None:
    create(session, 3, "PARTITIONED BY (bucket(4, id))")
    do(session, "UPDATE t SET s = 'new' WHERE id < 50")
    found = deletes(session)
    data = {f.file_path for f in files(table(session), ManifestContent.DATA)}
    targets = {f.referenced_data_file for f in found if isinstance(f, DataFileV3)}
    assert len(found) == len(targets) == 4
    assert targets < data
    assert len({f.file_path for f in found}) == 1
    do(session, "MERGE INTO t USING (VALUES (1), (2), (2000)) AS v(k) ON t.id = v.k "
                "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (k, 'inserted')")  # fmt: skip
    assert ids_by_pyiceberg(session) == [n for n in range(1000) if n not in (1, 2)] + [2000]
    assert in_order(rows(session, "SELECT s, count(*) FROM t WHERE id < 50 OR id = 2000 GROUP BY s")) == [
        ("inserted", 1),
        ("new", 48),
    ]


def test_deletes_of_an_older_version_go_into_the_vector(session: Session) -> None:
    create(session, 2)
    do(session, "DELETE FROM t WHERE id < 10")
    do(session, "ALTER TABLE t SET PROPERTIES ('format-version' = '3')")
    assert do(session, "DELETE FROM t WHERE id < 20") == 10
    (file,) = deletes(session)
    assert (file.file_format, file.record_count) == (FileFormat.PUFFIN, 20)
    assert ids_by_pyiceberg(session) == list(range(20, 1000))


def test_deletes_go_with_their_data_file(session: Session) -> None:
    """When it is written anew, when no row of it is left, and when the table is emptied."""
    for version in (2, 3):
        create(session, version)
        do(session, "DELETE FROM t WHERE id < 10")
        do(session, "ALTER TABLE t SET PROPERTIES ('write.update.mode' = 'copy-on-write')")
        do(session, "UPDATE t SET s = 'new' WHERE id < 20")
        assert deletes(session) == []
        assert ids_by_pyiceberg(session) == list(range(10, 1000))
        do(session, "DELETE FROM t WHERE id = 500")
        assert do(session, "DELETE FROM t") == 989
        assert deletes(session) == []
        assert rows(session, "SELECT count(*) FROM t") == [(0,)]
        do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        do(session, "DELETE FROM t WHERE id = 1")
        do(session, "TRUNCATE TABLE t")
        assert files(table(session), ManifestContent.DELETES) == []
        assert summary(session)["total-position-deletes"] == "0"
        do(session, "DROP TABLE t")


def test_a_file_whose_rows_all_match_goes_whole(session: Session) -> None:
    create(session, 3, "PARTITIONED BY (truncate(100, id))")
    before = len(files(table(session), ManifestContent.DATA))
    assert do(session, "DELETE FROM t WHERE id BETWEEN 100 AND 249") == 150
    assert len(files(table(session), ManifestContent.DATA)) == before - 1
    assert [f.record_count for f in deletes(session)] == [50]


def test_deletes_by_other_engines_are_kept(session: Session) -> None:
    create(session, 2)
    task = next(iter(table(session).scan().plan_files()))
    delete_positions(table(session), task, [5, 6, 7])
    assert do(session, "UPDATE t SET s = 'u' WHERE id IN (7, 8)") == 1
    assert ids_by_pyiceberg(session) == [n for n in range(1000) if n not in (5, 6, 7)]
    assert rows(session, "SELECT id FROM t WHERE s = 'u'") == [(8,)]


def test_a_damaged_vector_is_reported(session: Session) -> None:
    create(session, 3)
    do(session, "DELETE FROM t WHERE id = 7")
    (file,) = deletes(session)
    path = Path(file.file_path.removeprefix("file://"))
    content = bytearray(path.read_bytes())
    content[20] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataCorrupt, match="the checksum of a deletion vector"):
        rows(session, "SELECT count(*) FROM t")


def test_version_1_writes_files_again(session: Session) -> None:
    create(session, 1)
    assert do(session, "DELETE FROM t WHERE id = 1") == 1
    assert deletes(session) == []
    assert len(ids_by_pyiceberg(session)) == 999


def test_a_mode_that_does_not_exist(session: Session) -> None:
    create(session, 2)
    do(session, "ALTER TABLE t SET PROPERTIES ('write.delete.mode' = 'fast')")
    with pytest.raises(InvalidArgument, match="must be copy-on-write or merge-on-read"):
        do(session, "DELETE FROM t WHERE id = 1")
    assert do(session, "UPDATE t SET s = 'x' WHERE id = 1") == 1


def test_files_of_a_statement_that_fails_are_removed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    create(session, 3)
    root = Path(table(session).location().removeprefix("file://"))
    before = sorted(root.rglob("*.p*"))

    def fail(*_: object) -> None:
        raise InvalidArgument("no commit today")

    monkeypatch.setattr("pinakes.engine.iceberg.write.rewrite.commit", fail)
    with pytest.raises(InvalidArgument):
        do(session, "UPDATE t SET s = 'x' WHERE id < 10")
    assert sorted(root.rglob("*.p*")) == before
