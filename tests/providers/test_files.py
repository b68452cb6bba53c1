"""Catalog type files: a directory as a catalog that can be read, and what ATTACH may touch at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from pinakes.core.catalog import (
    ExplainsReading,
    FilesTable,
    SupportsNamespaceChanges,
    SupportsNamespaces,
    SupportsPathIdentifiers,
    SupportsTableChanges,
    SupportsTables,
    SupportsViews,
)
from pinakes.core.errors import (
    CatalogUnavailable,
    DataCorrupt,
    InvalidArgument,
    NamespaceNotFound,
    NotFoundError,
    NotSupportedError,
    PermissionDenied,
    PinakesError,
    TableNotFound,
)
from pinakes.core.file_formats import format_of, stem_of
from pinakes.core.secrets import Access, parse_secret
from pinakes.engine.engine import Engine
from pinakes.engine.session import Session
from pinakes.providers.files import FilesCatalog
from tests.engine.support import an_engine, do, rows

ROWS = pa.table({"id": [1, 2], "word": ["a", "b"]})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """
    orders.parquet  people.csv.gz  same.csv  same.json  readme.txt  _SUCCESS  .hidden.csv
    sub/deep/f.arrow  days/day=2024-01-01/x.parquet  days/day=2024-01-02/x.parquet  flat/{a,b}.parquet
    mixed/{a.csv,b.json}  empty/
    """
    root = tmp_path / "files"
    for directory in ("sub/deep", "days/day=2024-01-01", "days/day=2024-01-02", "flat", "mixed", "empty"):
        (root / directory).mkdir(parents=True)
    for name in ("orders", "days/day=2024-01-01/x", "days/day=2024-01-02/x", "flat/a", "flat/b"):
        pq.write_table(ROWS, root / f"{name}.parquet")
    (root / "people.csv.gz").write_bytes(gzip.compress(b"name,age\nAnn,33\n"))
    (root / "same.csv").write_text("n\n1\n")
    (root / "same.json").write_text('{"n": 2}\n')
    (root / "mixed" / "a.csv").write_text("n\n1\n")
    (root / "mixed" / "b.json").write_text('{"n": 2}\n')
    feather.write_feather(ROWS, root / "sub" / "deep" / "f.arrow", compression="uncompressed")
    for name in ("readme.txt", "_SUCCESS", ".hidden.csv"):
        (root / name).write_text("x\n1\n")
    return root


def opened(root: Path, **options: str | bool) -> FilesCatalog:
    return FilesCatalog.open("f", str(root), options)


@pytest.fixture
def session(root: Path) -> Iterator[Session]:
    with an_engine() as engine:
        session = engine.session()
        do(session, f"ATTACH '{root}' AS f (TYPE files)")
        yield session


# --- names -------------------------------------------------------------------------------------------------------


def test_groups(root: Path) -> None:
    catalog = opened(root)
    has = (SupportsNamespaces, SupportsTables, SupportsPathIdentifiers, ExplainsReading)
    lacks = (SupportsTableChanges, SupportsNamespaceChanges, SupportsViews)
    assert all(isinstance(catalog, group) for group in has)
    assert not any(isinstance(catalog, group) for group in lacks)


def test_files_and_directories_have_names(root: Path) -> None:
    catalog = opened(root)
    assert catalog.list_namespaces() == [("empty",), ("flat",), ("mixed",), ("sub",)]
    assert catalog.list_namespaces(("sub",)) == [("sub", "deep")]
    assert catalog.list_tables(()) == ["days", "orders", "people", "same.csv", "same.json"]
    assert catalog.list_tables(("flat",)) == ["a", "b"]
    assert catalog.list_tables(("sub", "deep")) == ["f"]
    assert catalog.list_tables(("empty",)) == []
    assert catalog.load_namespace(("sub",)) == {"location": str(root / "sub")}
    assert not catalog.namespace_exists(("days",))


def test_a_directory_of_one_format_may_be_a_table(root: Path) -> None:
    catalog = opened(root, TABLES="directories")
    assert catalog.list_namespaces() == [("empty",), ("mixed",), ("sub",)]
    assert "flat" in catalog.list_tables(())
    assert catalog.list_tables(("sub",)) == ["deep"]
    assert catalog.list_tables(("mixed",)) == ["a", "b"]
    flat = catalog.load_table((), "flat")
    assert (flat.format, flat.directory) == ("parquet", str(root / "flat"))
    assert flat.paths == (str(root / "flat" / "a.parquet"), str(root / "flat" / "b.parquet"))


def test_a_file_beside_a_directory_of_its_name(root: Path) -> None:
    pq.write_table(ROWS, root / "days.parquet")
    catalog = opened(root)
    assert [name for name in catalog.list_tables(()) if name.startswith("days")] == ["days", "days.parquet"]
    assert catalog.load_table((), "days").directory
    assert catalog.load_table((), "days.parquet").paths == (str(root / "days.parquet"),)


def test_a_stem_of_two_files_means_neither(root: Path) -> None:
    with pytest.raises(TableNotFound, match=r"same\.csv, same\.json have that name\. Write one of these in full"):
        opened(root).load_table((), "same")


@pytest.mark.parametrize("name", ["", ".", "..", "../files", "sub/deep", "_x", "nowhere", "orders.parquet", "x\0y"])
def test_namespaces_that_are_not_there(root: Path, name: str) -> None:
    catalog = opened(root)
    assert not catalog.namespace_exists((name,))
    for ask in (catalog.list_tables, catalog.list_namespaces, catalog.load_namespace):
        with pytest.raises(NamespaceNotFound):
            ask((name,))


def test_lakes_are_no_files(root: Path) -> None:
    """The files of an Iceberg or Delta table are not its rows: deleted ones are among them."""
    for directory in ("iceberg/metadata", "iceberg/data", "delta/_delta_log"):
        (root / directory).mkdir(parents=True)
    (root / "iceberg" / "metadata" / "v1.metadata.json").write_text("{}")
    for place in ("iceberg/data", "delta"):
        pq.write_table(ROWS, root / place / "x.parquet")
    catalog = opened(root, TABLES="directories")
    assert not {("iceberg",), ("delta",)} & set(catalog.list_namespaces())
    assert not {"iceberg", "delta"} & set(catalog.list_tables(()))


@pytest.mark.parametrize(
    ("name", "stem", "format"),
    [
        ("a.parquet", "a", "parquet"), ("a.b.CSV", "a.b", "csv"), ("a.json.gz", "a", "json"), ("a.gz", "a.gz", None),
        (".csv", ".csv", None), ("csv", "csv", None), ("a.txt", "a.txt", None), ("a.ndjson.zst", "a", "json"),
    ],
)  # fmt: skip
def test_endings(name: str, stem: str, format: str | None) -> None:
    assert (stem_of(name), format_of(name)) == (stem, format)


# --- what is outside ---------------------------------------------------------------------------------------------


def test_links_do_not_lead_out(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    pq.write_table(ROWS, outside / "secret.parquet")
    (root / "leak").symlink_to(outside)
    (root / "leak.parquet").symlink_to(outside / "secret.parquet")
    (root / "flat" / "c.parquet").symlink_to(outside / "secret.parquet")
    (root / "inside.parquet").symlink_to(root / "orders.parquet")
    (root / "loop").symlink_to(root / "loop")
    catalog = opened(root)
    assert ("leak",) not in catalog.list_namespaces()
    assert "leak" not in catalog.list_tables(())
    assert catalog.load_table((), "inside").format == "parquet"
    assert catalog.load_path("flat").paths == (str(root / "flat" / "a.parquet"), str(root / "flat" / "b.parquet"))
    for path in ("leak.parquet", "leak/secret.parquet", "../outside/secret.parquet", str(outside), "sub/../../outside"):
        with pytest.raises(PermissionDenied, match="leads out of the directory"):
            catalog.load_path(path)


def test_paths(root: Path) -> None:
    catalog = opened(root)
    assert catalog.load_path("sub/deep/f.arrow").format == "arrow"
    assert catalog.load_path(str(root / "same.csv")).format == "csv"
    assert catalog.load_path("./sub/../same.json").format == "json"
    assert len(catalog.load_path("days").paths) == 2
    with pytest.raises(TableNotFound):
        catalog.load_path("nothing.csv")
    with pytest.raises(InvalidArgument, match="does not say what is in it"):
        catalog.load_path("readme.txt")
    with pytest.raises(InvalidArgument, match="can't be read as one table"):
        catalog.load_path("mixed")
    with pytest.raises(InvalidArgument, match="no format that is known"):
        catalog.load_path("empty")


# --- attaching ---------------------------------------------------------------------------------------------------


def test_what_can_not_be_attached(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="TABLES of catalog type files must be one of files, directories"):
        opened(root, TABLES="trees")
    for location in ("", "s3://bucket/x", "https://example.org/x"):
        with pytest.raises(NotSupportedError, match="needs a directory of this machine"):
            FilesCatalog.open("f", location, {})
    secret = parse_secret("s", "u", {"TYPE": "bearer", "TOKEN": "t"})
    with pytest.raises(InvalidArgument, match="takes no secret"):
        FilesCatalog.open("f", str(root), {}, Access(secret))
    for place in (tmp_path / "nowhere", root / "orders.parquet"):
        with pytest.raises(CatalogUnavailable, match="is not a directory"):
            opened(place).check()
    assert opened(Path(root.as_uri().removeprefix("file://"))).list_tables(()) != []
    assert FilesCatalog.open("f", root.as_uri(), {}).list_tables(("flat",)) == ["a", "b"]


def test_a_directory_that_may_not_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system is asked to refuse, since it refuses nothing to the super-user."""
    catalog, scandir = opened(root), os.scandir

    def refused(path: Path) -> object:
        if Path(path) == root / "sub":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(PermissionDenied, match=r"directory '.*sub' can't be read"):
        catalog.list_tables(("sub",))
    assert catalog.list_tables(("flat",)) == ["a", "b"]


# --- with the engine ---------------------------------------------------------------------------------------------


def test_rows(session: Session, root: Path) -> None:
    assert rows(session, "SELECT * FROM f.orders ORDER BY id") == [(1, "a"), (2, "b")]
    assert rows(session, "SELECT name, age FROM f.people") == [("Ann", 33)]
    assert rows(session, 'SELECT n FROM f."same.csv"') == [(1,)]
    assert rows(session, 'SELECT n FROM f."same.json"') == [(2,)]
    assert rows(session, "SELECT count(*) FROM f.sub.deep.f") == [(2,)]
    days = "SELECT day, count(*) FROM f.days WHERE day > DATE '2024-01-01' GROUP BY day"
    assert [(str(day), count) for day, count in rows(session, days)] == [("2024-01-02", 2)]
    assert rows(session, "SELECT count(*) FROM f.'flat/a.parquet'") == [(2,)]
    assert rows(session, "SELECT sum(id) FROM f.'flat'") == [(6,)]
    assert rows(session, 'SELECT count(*) FROM f."flat/b.parquet" AS b JOIN f.orders AS o ON b.id = o.id') == [(2,)]
    columns = rows(session, "DESCRIBE f.days")
    assert [(name, type) for name, type, *_ in columns] == [("id", "bigint"), ("word", "varchar"), ("day", "date")]


def test_files_that_come_and_go_are_seen_at_once(session: Session, root: Path) -> None:
    assert rows(session, "SELECT count(*) FROM f.days") == [(4,)]
    (root / "days" / "day=2024-01-03").mkdir()
    pq.write_table(ROWS, root / "days" / "day=2024-01-03" / "x.parquet")
    assert rows(session, "SELECT count(*) FROM f.days") == [(6,)]
    pq.write_table(ROWS, root / "new.parquet")
    assert rows(session, "SELECT count(*) FROM f.new") == [(2,)]
    (root / "new.parquet").unlink()
    with pytest.raises(NotFoundError):
        rows(session, "SELECT * FROM f.new")


def test_a_broken_file_is_named(session: Session, root: Path) -> None:
    (root / "broken.parquet").write_text("this is not Parquet")
    (root / "days" / "day=2024-01-02" / "y.parquet").write_text("")
    with pytest.raises(DataCorrupt, match=r"broken\.parquet"):
        rows(session, "SELECT * FROM f.broken")
    with pytest.raises(DataCorrupt, match=r"day=2024-01-02/y\.parquet"):
        rows(session, "SELECT * FROM f.days")
    assert rows(session, "SELECT count(*) FROM f.orders") == [(2,)]


def test_columns_that_some_files_lack(session: Session, root: Path) -> None:
    pq.write_table(pa.table({"id": [3], "more": [1]}), root / "days" / "day=2024-01-02" / "y.parquet")
    with pytest.raises(PinakesError, match=r"other columns|lacks"):
        rows(session, "SELECT * FROM f.days")
    do(session, f"ATTACH OR REPLACE '{root}' AS f (TYPE files, UNION_BY_NAME true)")
    assert rows(session, "SELECT count(*), count(more) FROM f.days") == [(5, 1)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO f.orders VALUES (1, 'x')",
        "DELETE FROM f.orders",
        "UPDATE f.orders SET id = 1",
        "TRUNCATE TABLE f.orders",
        "DROP TABLE f.orders",
        "ALTER TABLE f.orders ADD COLUMN x INT",
        "ALTER TABLE f.orders RENAME TO o",
        "CREATE TABLE f.new (a INT)",
        "CREATE TABLE f.new AS SELECT 1 AS a",
        "CREATE SCHEMA f.new",
        "DROP SCHEMA f.flat",
        "COMMENT ON TABLE f.orders IS 'x'",
        "COMMENT ON SCHEMA f.flat IS 'x'",
        "CREATE VIEW f.v AS SELECT 1 AS a",
        "MERGE INTO f.orders AS t USING f.orders AS s ON t.id = s.id WHEN MATCHED THEN DELETE",
    ],
)
def test_nothing_can_be_changed(session: Session, root: Path, statement: str) -> None:
    before = sorted(root.rglob("*"))
    with pytest.raises(NotSupportedError, match=r"catalog 'f' \(type files\) does not support .* It can only be read"):
        do(session, statement)
    assert sorted(root.rglob("*")) == before


def test_make_tables_of_files(session: Session) -> None:
    do(session, "CREATE TABLE mine AS SELECT * FROM f.days")
    assert rows(session, "SELECT count(*) FROM mine") == [(4,)]
    with pytest.raises(NotSupportedError, match="not an Iceberg table"):
        rows(session, "SHOW CREATE TABLE f.orders")


def test_a_default_namespace(session: Session, root: Path) -> None:
    do(session, f"ATTACH '{root}' AS d (TYPE files, DEFAULT_NAMESPACE 'flat')")
    assert rows(session, "SELECT count(*) FROM d.a") == [(2,)]


def test_a_table_as_the_engine_gets_it(root: Path) -> None:
    assert opened(root).load_table((), "orders") == FilesTable((), "orders", "parquet", (str(root / "orders.parquet"),))


# --- which directories ATTACH may touch ----------------------------------------------------------------------------


@pytest.fixture
def fenced(root: Path) -> Iterator[Engine]:
    with an_engine(allowed_paths=(str(root / "flat"), str(root / "empty"))) as engine:
        yield engine


@pytest.mark.parametrize("type", ["files", "hadoop", "sqlite"])
def test_attach_stays_within_the_allowed_paths(fenced: Engine, root: Path, type: str) -> None:
    session = fenced.session()
    for place in (root, root / "flat" / ".." / "sub", Path("~"), root.as_uri()):
        with pytest.raises(PermissionDenied, match="outside of the directories that SQL may touch"):
            do(session, f"ATTACH '{place}' AS c (TYPE {type}, VERIFY false)")
    (root / "flat" / "link").symlink_to(root / "sub")
    with pytest.raises(PermissionDenied, match="outside of the directories that SQL may touch"):
        do(session, f"ATTACH '{root / 'flat' / 'link'}' AS c (TYPE {type})")
    do(session, f"ATTACH '{root / 'empty'}' AS c (TYPE {type})")


def test_warehouses_do_too(fenced: Engine, root: Path) -> None:
    session = fenced.session()
    for kind, location in (("sqlite", root / "empty" / "c.db"), ("jdbc", "postgresql://localhost/c")):
        with pytest.raises(PermissionDenied, match="outside of the directories that SQL may touch"):
            do(session, f"ATTACH '{location}' AS c (TYPE {kind}, WAREHOUSE '{root}', VERIFY false)")
    assert not (root / "empty" / "c.db").exists()
