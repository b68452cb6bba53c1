"""Catalog type hadoop: files as Java's HadoopCatalog lays them out, damaged ones, and writers that meet."""

from __future__ import annotations

import dataclasses
import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pinakes.core.catalog import IcebergTable, SupportsNamespaceChanges, SupportsTableChanges, SupportsViews
from pinakes.core.errors import (
    CatalogUnavailable,
    CommitConflict,
    DataCorrupt,
    InvalidArgument,
    NamespaceExists,
    NamespaceNotEmpty,
    NamespaceNotFound,
    NotSupportedError,
    PinakesError,
    TableExists,
    TableNotFound,
)
from pinakes.providers.hadoop import HadoopCatalog, HadoopReader
from pinakes.providers.hadoop_catalog.local import Removed
from pinakes.providers.hadoop_catalog.versions import current, versions_in
from pinakes.providers.iceberg.adapter import translate_errors
from tests.providers.catalog_suite import SPEC, ids_in, rows
from tests.servers.base import Facts
from tests.servers.plugin import StartServer

T = (("sales",), "t")


def opened(root: Path, **options: Any) -> HadoopCatalog:
    catalog = HadoopReader.open("h", str(root), {"CREATE": True, **options})
    assert isinstance(catalog, HadoopCatalog)
    return catalog


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def catalog(root: Path) -> HadoopCatalog:
    found = opened(root)
    found.create_namespace(("sales",), {})
    return found


@pytest.fixture
def table(catalog: HadoopCatalog) -> IcebergTable:
    """Versions 1 to 3: made, 1 appended, 2 appended."""
    made = catalog.create_table(*T, SPEC)
    for number in (1, 2):
        made.handle.append(rows(number))
    return made


def metadata(root: Path) -> Path:
    return root / "sales" / "t" / "metadata"


def versions(root: Path) -> list[str]:
    return sorted(path.name for path in metadata(root).iterdir() if path.suffix != ".avro")


# --- the layout --------------------------------------------------------------------------------------------------


def test_files_stand_where_java_puts_them(root: Path, table: IcebergTable) -> None:
    assert versions(root) == ["v1.metadata.json", "v2.metadata.json", "v3.metadata.json", "version-hint.text"]
    assert (metadata(root) / "version-hint.text").read_text() == "3"
    assert table.handle.location() == str(root / "sales" / "t")
    assert len(list((root / "sales" / "t" / "data").iterdir())) == 2


def test_groups(catalog: HadoopCatalog) -> None:
    assert isinstance(catalog, SupportsTableChanges)
    assert isinstance(catalog, SupportsNamespaceChanges)
    assert not isinstance(catalog, SupportsViews)
    catalog.check()


def test_a_table_made_with_its_rows_is_no_namespace_before(catalog: HadoopCatalog) -> None:
    creation = catalog.begin_create_table(*T, SPEC)
    creation.append(rows(1, 2))
    assert catalog.list_tables(("sales",)) == []
    assert catalog.list_namespaces(("sales",)) == []
    creation.commit_transaction()
    assert ids_in(catalog.load_table(*T)) == [1, 2]


def test_what_a_checksum_of_java_says_of_the_old_hint_goes(root: Path, catalog: HadoopCatalog) -> None:
    made = catalog.create_table(*T, SPEC)
    checksum = metadata(root) / ".version-hint.text.crc"
    checksum.write_bytes(b"crc")
    made.handle.append(rows(1))
    assert not checksum.exists()


# --- which version is current ------------------------------------------------------------------------------------


@pytest.mark.parametrize("hint", [None, "", "no number", "1", "2", "3\n", "0"])
def test_the_hint_may_be_missing_wrong_or_behind(
    root: Path, catalog: HadoopCatalog, table: IcebergTable, hint: str | None
) -> None:
    file = metadata(root) / "version-hint.text"
    file.unlink() if hint is None else file.write_text(hint)
    loaded = catalog.load_table(*T)
    assert ids_in(loaded) == [1, 2]
    loaded.handle.append(rows(3))
    assert ids_in(catalog.load_table(*T)) == [1, 2, 3]
    assert "v4.metadata.json" in versions(root)


def test_a_hint_to_a_version_that_was_cleaned_up(root: Path, catalog: HadoopCatalog, table: IcebergTable) -> None:
    (metadata(root) / "version-hint.text").write_text("1")
    (metadata(root) / "v1.metadata.json").unlink()
    assert ids_in(catalog.load_table(*T)) == [1, 2]


def test_a_version_that_was_lost_is_not_passed_over(root: Path, catalog: HadoopCatalog, table: IcebergTable) -> None:
    (metadata(root) / "v3.metadata.json").unlink()
    with pytest.raises(DataCorrupt, match=r"table sales\.t is damaged: version-hint\.text says version 3"):
        catalog.load_table(*T)


def test_no_version_is_written_before_a_gap(root: Path, catalog: HadoopCatalog, table: IcebergTable) -> None:
    (metadata(root) / "v5.metadata.json").write_text("{}")
    assert ids_in(catalog.load_table(*T)) == [1, 2]  # as Java reads it: from the hint, up to the gap
    with pytest.raises(DataCorrupt, match=r"v5\.metadata\.json, but none of version 4"):
        catalog.load_table(*T).handle.append(rows(3))


@pytest.mark.parametrize("name", ["v3.gz.metadata.json", "v3.metadata.json.gz"])
def test_compressed_metadata(root: Path, catalog: HadoopCatalog, table: IcebergTable, name: str) -> None:
    plain = metadata(root) / "v3.metadata.json"
    (metadata(root) / name).write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert ids_in(catalog.load_table(*T)) == [1, 2]
    catalog.load_table(*T).handle.append(rows(3))
    assert ids_in(catalog.load_table(*T)) == [1, 2, 3]


@pytest.mark.parametrize("name", ["v4.gz.metadata.json", "v4.metadata.json.gz"])
def test_a_version_that_java_wrote_compressed_is_taken(
    root: Path, catalog: HadoopCatalog, table: IcebergTable, name: str
) -> None:
    """Between our look and our write: it must lose, also though the name differs."""
    handle = loaded(catalog)
    stale = catalog.inner
    found = stale._tree.current(("sales", "t"))  # type: ignore[attr-defined]
    assert found is not None
    (metadata(root) / name).write_bytes(gzip.compress((metadata(root) / "v3.metadata.json").read_bytes()))
    with pytest.raises(CommitConflict), translate_errors("table", *T):
        stale._publish(("sales", "t"), handle.metadata, found)  # type: ignore[attr-defined]
    assert "v4.metadata.json" not in versions(root)


def test_versions() -> None:
    names = ["v2.metadata.json", "v2.gz.metadata.json", "v10.metadata.json", "0001-x.metadata.json", "v.metadata.json"]
    assert versions_in(names) == {2: "v2.metadata.json", 10: "v10.metadata.json"}
    assert current({}, "3", "it") is None


@pytest.mark.parametrize("content", ["", "{", '{"format-version": 9}', "\x00"])
def test_damaged_metadata_is_named(root: Path, catalog: HadoopCatalog, table: IcebergTable, content: str) -> None:
    (metadata(root) / "v3.metadata.json").write_text(content)
    with pytest.raises(DataCorrupt, match=r"table sales\.t is damaged: its metadata file .*v3\.metadata\.json"):
        catalog.load_table(*T)
    catalog.drop_table(*T)
    assert catalog.list_tables(("sales",)) == []


# --- namespaces --------------------------------------------------------------------------------------------------


def test_namespaces_are_directories(root: Path, catalog: HadoopCatalog) -> None:
    catalog.create_namespace(("a", "b"), {})
    (root / "by hand").mkdir()
    (root / ".hidden").mkdir()
    (root / "a file").write_text("x")
    assert catalog.list_namespaces() == [("a",), ("by hand",), ("sales",)]
    assert catalog.list_namespaces(("a",)) == [("a", "b")]
    assert catalog.load_namespace(("a", "b")) == {"location": str(root / "a" / "b")}
    with pytest.raises(NamespaceExists):
        catalog.create_namespace(("a",), {})
    with pytest.raises(NamespaceNotEmpty, match="it holds b"):
        catalog.drop_namespace(("a",))
    catalog.drop_namespace(("a", "b"))
    for ask in (catalog.list_tables, catalog.list_namespaces, catalog.load_namespace, catalog.drop_namespace):
        with pytest.raises(NamespaceNotFound, match=r"namespace a\.b does not exist"):
            ask(("a", "b"))


def test_namespaces_have_no_properties(catalog: HadoopCatalog) -> None:
    with pytest.raises(NotSupportedError, match="keeps no properties of namespaces"):
        catalog.create_namespace(("x",), {"owner": "ann"})
    with pytest.raises(NotSupportedError, match="keeps no properties of namespaces"):
        catalog.alter_namespace(("sales",), {"owner": "ann"}, [])
    with pytest.raises(NamespaceNotFound):
        catalog.alter_namespace(("nowhere",), {"owner": "ann"}, [])


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", ".hidden", "a\\b", "a:b", "new\nline", "x" * 300])
def test_names_that_no_directory_can_have(root: Path, catalog: HadoopCatalog, name: str) -> None:
    before = sorted(root.rglob("*"))
    for ask in (lambda: catalog.create_namespace((name,), {}), lambda: catalog.create_table(("sales",), name, SPEC)):
        with pytest.raises(InvalidArgument):
            ask()
    assert not catalog.namespace_exists((name,))
    with pytest.raises(TableNotFound):
        catalog.load_table(("sales",), name)
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    "name", ["käse", "two words", 'q"uote', "it's", "per%cent", "日本語", "UPPER", "hash#t", "a?b", "a.b"]
)
def test_odd_names(catalog: HadoopCatalog, name: str) -> None:
    catalog.create_namespace((name, name), {})
    catalog.create_table((name, name), name, SPEC).handle.append(rows(1))
    assert catalog.list_namespaces((name,)) == [(name, name)]
    assert catalog.list_tables((name, name)) == [name]
    assert ids_in(catalog.load_table((name, name), name)) == [1]
    catalog.drop_table((name, name), name, purge=True)


@pytest.mark.parametrize("name", ["data", "metadata"])
def test_names_that_tables_use_for_their_own_directories(catalog: HadoopCatalog, name: str) -> None:
    with pytest.raises(InvalidArgument, match="can't be called data or metadata"):
        catalog.create_namespace(("sales", name), {})
    catalog.create_namespace((name,), {})
    catalog.create_table(("sales",), name, SPEC).handle.append(rows(1))
    assert catalog.list_namespaces() == sorted([(name,), ("sales",)])
    assert catalog.list_tables(("sales",)) == [name]
    assert catalog.list_namespaces(("sales",)) == []
    assert ids_in(catalog.load_table(("sales",), name)) == [1]


def test_a_table_and_a_namespace_are_not_both(catalog: HadoopCatalog, table: IcebergTable) -> None:
    with pytest.raises(InvalidArgument, match=r"sales\.t is a table"):
        catalog.create_namespace(("sales", "t"), {})
    with pytest.raises(InvalidArgument, match=r"sales\.t is a table"):
        catalog.create_namespace(("sales", "t", "below"), {})
    assert catalog.list_namespaces(("sales",)) == []
    catalog.create_namespace(("sales", "ns"), {})
    with pytest.raises(InvalidArgument, match=r"sales\.ns is a namespace"):
        catalog.create_table(("sales",), "ns", SPEC)


# --- links -------------------------------------------------------------------------------------------------------


def test_links_do_not_lead_out(root: Path, catalog: HadoopCatalog, table: IcebergTable, tmp_path: Path) -> None:
    other = opened(tmp_path / "other")
    other.create_namespace(("private",), {})
    other.create_table(("private",), "secrets", SPEC)
    (root / "leak").symlink_to(tmp_path / "other" / "private")
    (root / "sales" / "stolen").symlink_to(tmp_path / "other" / "private" / "secrets")
    (root / "loop").symlink_to(root / "loop")
    (root / "sales" / "half").mkdir()
    (root / "sales" / "half" / "metadata").symlink_to(tmp_path / "other" / "private" / "secrets" / "metadata")
    assert catalog.list_namespaces() == [("sales",)]
    assert catalog.list_tables(("sales",)) == ["t"]
    for namespace, name in ((("leak",), "secrets"), (("sales",), "stolen"), (("sales",), "half")):
        with pytest.raises(TableNotFound):
            catalog.load_table(namespace, name)
        with pytest.raises(TableNotFound):
            catalog.drop_table(namespace, name)
    assert other.list_tables(("private",)) == ["secrets"]


# --- tables ------------------------------------------------------------------------------------------------------


def test_a_custom_place_is_refused(catalog: HadoopCatalog, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="stands in its own directory"):
        catalog.create_table(*T, dataclasses.replace(SPEC, location=str(tmp_path / "elsewhere")))
    on_remote_engine = {"write.metadata.path": str(tmp_path / "elsewhere")}
    with pytest.raises(InvalidArgument, match=r"write\.metadata\.path can't be set"):
        catalog.create_table(*T, dataclasses.replace(SPEC, properties=on_remote_engine))
    made = catalog.create_table(*T, SPEC)
    change = made.handle.transaction().set_properties(on_remote_engine)
    with pytest.raises(InvalidArgument, match=r"write\.metadata\.path"), translate_errors("table", *T):
        change.commit_transaction()


def test_rename_is_not_supported(catalog: HadoopCatalog, table: IcebergTable) -> None:
    with pytest.raises(NotSupportedError, match="can't be renamed"):
        catalog.rename_table(T, (("sales",), "u"))
    with pytest.raises(TableNotFound):
        catalog.rename_table((("sales",), "none"), (("sales",), "u"))


@pytest.mark.parametrize("purge", [False, True])
def test_drop_removes_the_directory(root: Path, catalog: HadoopCatalog, table: IcebergTable, purge: bool) -> None:
    catalog.drop_table(*T, purge=purge)
    assert list((root / "sales").iterdir()) == []
    with pytest.raises(TableNotFound, match=r"table sales\.t does not exist"):
        catalog.drop_table(*T, purge=purge)
    catalog.create_table(*T, SPEC).handle.append(rows(9))
    assert ids_in(catalog.load_table(*T)) == [9]


def test_purge_also_removes_files_elsewhere(catalog: HadoopCatalog, tmp_path: Path) -> None:
    on_remote_engine = tmp_path / "elsewhere"
    made = catalog.create_table(*T, dataclasses.replace(SPEC, properties={"write.data.path": str(on_remote_engine)}))
    made.handle.append(rows(1))
    assert len(list(on_remote_engine.rglob("*.parquet"))) == 1
    catalog.drop_table(*T, purge=True)
    assert list(on_remote_engine.rglob("*.parquet")) == []


def test_what_is_left_of_a_creation_that_failed_is_in_nobodys_way(root: Path, catalog: HadoopCatalog) -> None:
    (root / "sales" / "t" / "data" / "k=1").mkdir(parents=True)
    (root / "sales" / "u" / "metadata").mkdir(parents=True)
    assert catalog.list_namespaces(("sales",)) == []
    (root / "sales" / "u" / "metadata" / "m0.avro").write_text("a file")
    with pytest.raises(NamespaceNotEmpty, match="it holds u"):
        catalog.drop_namespace(("sales",))
    (root / "sales" / "u" / "metadata" / "m0.avro").unlink()
    catalog.drop_namespace(("sales",))
    assert not (root / "sales").exists()


def test_a_table_that_is_there_already(catalog: HadoopCatalog, table: IcebergTable) -> None:
    for create in (catalog.create_table, catalog.begin_create_table):
        with pytest.raises(TableExists, match=r"a table named sales\.t already exists"):
            create(*T, SPEC)
    with pytest.raises(NamespaceNotFound):
        catalog.create_table(("nowhere",), "t", SPEC)


def test_a_warehouse_that_is_not_there(root: Path) -> None:
    with pytest.raises(CatalogUnavailable, match="is not a directory"):
        HadoopReader.open("h", str(root), {}).check()


def test_old_versions_are_cleaned_up_when_asked(root: Path, catalog: HadoopCatalog) -> None:
    cleaning = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2"}
    made = catalog.create_table(*T, dataclasses.replace(SPEC, properties=cleaning))
    for number in range(5):
        made.handle.append(rows(number))
    kept = ["v4.metadata.json", "v5.metadata.json", "v6.metadata.json", "version-hint.text"]
    assert versions(root) == kept
    assert ids_in(catalog.load_table(*T)) == [0, 1, 2, 3, 4]


# --- writers that meet -------------------------------------------------------------------------------------------


def loaded(catalog: HadoopCatalog) -> Any:
    return catalog.load_table(*T).handle


def test_the_second_writer_of_a_version_loses(root: Path, catalog: HadoopCatalog, table: IcebergTable) -> None:
    inner: Any = catalog.inner
    found = inner._tree.current(("sales", "t"))
    inner._publish(("sales", "t"), loaded(catalog).metadata, found)
    with pytest.raises(CommitConflict), translate_errors("table", *T):
        inner._publish(("sales", "t"), loaded(catalog).metadata, found)
    assert [name for name in versions(root) if name.startswith(".")] == []


def test_two_creations_of_one_table(catalog: HadoopCatalog) -> None:
    first, second = (catalog.begin_create_table(*T, SPEC) for _ in range(2))
    first.append(rows(1))
    second.append(rows(2))
    first.commit_transaction()
    with pytest.raises(TableExists), translate_errors("table", *T):
        second.commit_transaction()
    assert ids_in(catalog.load_table(*T)) == [1]


def test_a_commit_to_a_table_that_was_dropped(catalog: HadoopCatalog) -> None:
    """The writer makes the directory of its data anew, which is left: it is no namespace, and in nobody's way."""
    handle = catalog.create_table(*T, SPEC).handle
    catalog.drop_table(*T)
    with pytest.raises(TableNotFound), translate_errors("table", *T):
        handle.append(rows(3))
    assert catalog.list_tables(("sales",)) == catalog.list_namespaces(("sales",)) == []
    catalog.create_table(*T, SPEC).handle.append(rows(4))
    assert ids_in(catalog.load_table(*T)) == [4]


@pytest.mark.parametrize("removed", [False, True])
def test_a_commit_does_not_land_in_a_table_that_took_the_place(
    root: Path, catalog: HadoopCatalog, table: IcebergTable, removed: bool
) -> None:
    """Dropped and made anew between the look and the write; what was dropped may not be removed from the disk yet."""
    inner: Any = catalog.inner
    _, found = inner._load(("sales", "t"))
    with inner._local.opened("sales", "t") as directory:
        if removed:
            catalog.drop_table(*T)
        else:
            (root / "sales" / "t").rename(root / "sales" / ".dropped")
        again = catalog.create_table(*T, SPEC)
        for number in (7, 8):
            again.handle.append(rows(number))
        with pytest.raises(Removed):
            inner._local.publish(directory, found.version + 1, b"{}", "sales", "t")
    assert ids_in(catalog.load_table(*T)) == [7, 8]


def test_a_file_system_without_hard_links(catalog: HadoopCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(NotSupportedError, match="has no hard links"):
        catalog.create_table(*T, SPEC)


WORKER = """
import logging, sys, time
from pathlib import Path
import pyarrow as pa
from pinakes.core.errors import TableExists
from pinakes.providers.registry import open_catalog
from tests.providers.catalog_suite import SPEC, rows
import dataclasses

logging.getLogger("pyiceberg").setLevel(logging.ERROR)
directory, number, steps, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
(directory / f"ready{number}").touch()
while len(list(directory.glob("ready*"))) < count:
    time.sleep(0.002)
catalog = open_catalog("hadoop", "h", str(directory / "warehouse"), {})
patient = {"commit.retry.num-retries": "200", "commit.retry.min-wait-ms": "1", "commit.retry.max-wait-ms": "20",
           "commit.retry.total-timeout-ms": "600000"}
won = 0
try:
    catalog.create_table(("sales",), "t", dataclasses.replace(SPEC, properties=patient))
    won = 1
except TableExists:
    pass
for step in range(steps):
    catalog.load_table(("sales",), "t").handle.append(rows(number * 100 + step))
print(won)
"""


@pytest.mark.slow
def test_several_processes_append(tmp_path: Path, catalog: HadoopCatalog) -> None:
    """Every commit lands once, each with a version of its own; one process alone makes the table."""
    count, steps = 4, 6
    arguments = [sys.executable, "-c", WORKER, str(tmp_path)]
    started = [
        subprocess.Popen([*arguments, str(n), str(steps), str(count)], stdout=subprocess.PIPE, text=True)
        for n in range(count)
    ]
    won = [process.communicate()[0].strip() for process in started]
    assert sorted(won) == ["0"] * (count - 1) + ["1"]
    expected = sorted(n * 100 + step for n in range(count) for step in range(steps))
    assert ids_in(catalog.load_table(*T)) == expected
    assert len([v for v in versions(tmp_path / "warehouse") if v.endswith(".metadata.json")]) == 1 + count * steps


# --- Java's own HadoopCatalog, behind its REST interface -----------------------------------------------------------


@pytest.fixture
def java(root: Path, private_server: StartServer) -> Facts:
    settings = {"catalog-impl": "org.apache.iceberg.hadoop.HadoopCatalog", "warehouse": f"file://{root}"}
    return private_server("rest", **settings).facts


def java_catalog(facts: Facts) -> Any:
    from pyiceberg.catalog.rest import RestCatalog

    return RestCatalog("java", uri=facts["uri"])


@pytest.mark.slow
def test_java_and_we_read_and_write_the_same_tables(root: Path, java: Facts) -> None:
    theirs, ours = java_catalog(java), opened(root)
    theirs.create_namespace(("sales",))
    theirs.create_namespace(("sales", "eu"))
    made = theirs.create_table(("sales", "t"), SPEC.schema)
    made.append(rows(1))
    assert ours.list_namespaces(("sales",)) == [("sales", "eu")]
    assert ours.list_tables(("sales",)) == ["t"]
    assert ids_in(ours.load_table(*T)) == [1]
    loaded(ours).append(rows(2))  # the hint that Java wrote has a checksum beside it
    theirs.load_table(("sales", "t")).append(rows(3))
    assert ids_in(ours.load_table(*T)) == [1, 2, 3]
    ours.create_table(("sales",), "u", SPEC).handle.append(rows(4))
    assert sorted(theirs.list_tables(("sales",))) == [("sales", "t"), ("sales", "u")]
    assert theirs.load_table(("sales", "u")).scan().to_arrow()["id"].to_pylist() == [4]
    assert "v4.metadata.json" in versions(root)
    theirs.drop_table(("sales", "u"))
    assert ours.list_tables(("sales",)) == ["t"]
    ours.drop_table(*T)
    assert theirs.list_tables(("sales",)) == []


@pytest.mark.slow
def test_metadata_that_java_compressed(root: Path, java: Facts) -> None:
    theirs, ours = java_catalog(java), opened(root)
    theirs.create_namespace(("sales",))
    theirs.create_table(("sales", "t"), SPEC.schema, properties={"write.metadata.compression-codec": "gzip"})
    theirs.load_table(("sales", "t")).append(rows(1))
    assert "v2.gz.metadata.json" in versions(root)
    loaded(ours).append(rows(2))
    theirs.load_table(("sales", "t")).append(rows(3))
    assert ids_in(ours.load_table(*T)) == [1, 2, 3]


# --- object stores: read only --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_warehouse_on_an_object_store_can_be_read(
    catalog: HadoopCatalog, root: Path, s3_server: Facts, tmp_path: Path
) -> None:
    from pinakes.core.catalog import ExplainsReading
    from pinakes.core.secrets import Access, parse_secret

    place = f"s3://{s3_server['bucket']}/hadoop-{tmp_path.name}"
    keys = {"KEY_ID": s3_server["key_id"], "SECRET": s3_server["secret"], "REGION": s3_server["region"]}
    secret = parse_secret("s", "u", {"TYPE": "s3", **keys, "ENDPOINT": s3_server["uri"]})
    remote = HadoopReader.open("h", place, {}, Access(storage=secret))
    _upload(remote, catalog, root, place)
    remote.check()
    assert remote.list_namespaces() == [("sales",)]
    assert remote.list_tables(("sales",)) == ["t"]
    assert remote.load_table(*T).handle.schema().find_field("id") is not None
    assert isinstance(remote, ExplainsReading)
    assert not isinstance(remote, SupportsTableChanges)
    assert not isinstance(remote, SupportsNamespaceChanges)
    with pytest.raises(NotSupportedError, match="can only be read"), translate_errors("table", *T):
        remote.load_table(*T).handle.append(rows(1))
    with pytest.raises(NamespaceNotFound):
        remote.list_tables(("nowhere",))
    with pytest.raises(TableNotFound):
        remote.load_table(("sales",), "nothing")


def _upload(remote: Any, catalog: HadoopCatalog, root: Path, place: str) -> None:
    """A table as it would stand there: its own location says so."""
    catalog.create_table(*T, SPEC)
    io = remote.inner._load_file_io(location=place)
    for path in (p for p in root.rglob("*") if p.is_file()):
        content = path.read_text().replace(str(root), place)
        with io.new_output(f"{place}/{path.relative_to(root)}").create() as stream:
            stream.write(content.encode())


def test_every_error_is_typed(catalog: HadoopCatalog, table: IcebergTable, root: Path) -> None:
    """A file where a directory should be, at every level."""
    (root / "sales" / "file").write_text("x")
    (root / "sales" / "odd").mkdir()
    (root / "sales" / "odd" / "metadata").write_text("x")
    asks: list[Callable[[], object]] = [
        lambda: catalog.load_table(("sales", "file"), "t"),
        lambda: catalog.load_table(("sales",), "file"),
        lambda: catalog.load_table(("sales",), "odd"),
        lambda: catalog.create_table(("sales",), "file", SPEC),
        lambda: catalog.create_namespace(("sales", "file"), {}),
        lambda: catalog.list_tables(("sales", "file")),
    ]
    for ask in asks:
        with pytest.raises(PinakesError):
            ask()
