"""Finding 3: several lenient parsers of locations, each lenient in another way, led out of the warehouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinakes.core.errors import InvalidArgument, PermissionDenied, PinakesError
from pinakes.core.location import Location
from tests.engine.support import do, rows
from tests.security.rogue import ADMIN, an_engine_of, files_below, session_of

ODD = (
    " file://{out}",
    "file://{out} ",
    "\tfile://{out}",
    "\nfile://{out}",
    "\x00{out}",
    "\x01file://{out}",
    "file://{out}\x7f",
    "\u2028{out}",
    " {out}",
    "{out}/a://b",
    "/x/a://b",
    "s3://b/file://{out}",
    "{lake}/../{name}",
    "file://{lake}/../{name}",
    "file://{lake}/%2e%2e/{name}",
    "file://{lake}/%2E./{name}",
    "file://{lake}/.%2e",
    "{lake}/..",
    "../{name}",
    "relative/path",
    "~/x",
    "File://{out}",
    "FILE:{out}",
    "file:{name}",
    "file://localhost{out}",
    "file://@{out}",
    "hdfs://default{out}",
    "viewfs://x{out}",
    "hf://x/y",
    "ftp://x/y",
    "http://x/y",
    "data:text/plain,x",
    "s3:///x",
    "s3://",
    "s3:/b/x",
    "s3://user@b/x",
    "s3://b/../x",
    "memory://x/y",
    "",
)
PLACES = ("file://{out}", "{out}", "file:{out}")


@pytest.mark.parametrize("written", ODD)
@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE x (a int) LOCATION '{place}'",
        "CREATE TABLE x LOCATION '{place}' AS SELECT 1 AS a",
        "CREATE TABLE x (a int) WITH (location = '{place}')",
        "CREATE TABLE x (a int) WITH ('write.data.path' = '{place}')",
        "CREATE TABLE x (a int) WITH ('write.metadata.path' = '{place}')",
        "CREATE TABLE x (a int) WITH ('write.object-storage.path' = '{place}')",
        "ALTER TABLE t SET TBLPROPERTIES ('write.folder-storage.path' = '{place}')",
        "ALTER TABLE t SET TBLPROPERTIES ('write.data.path' = '{place}')",
        "CREATE SCHEMA q LOCATION '{place}'",
        "CREATE SCHEMA q WITH (location = '{place}')",
        "ALTER SCHEMA z SET PROPERTIES ('location' = '{place}')",
    ],
)
def test_odd_locations_are_refused(sql: str, written: str, guarded: tuple[object, object], tmp_path: Path) -> None:
    lake = tmp_path
    place = written.format(out="/srv/out", lake=lake, name="out").replace("'", "''")
    for session in guarded:
        with pytest.raises((InvalidArgument, PermissionDenied)):
            do(session, sql.format(place=place))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """Eve and an administrator at a server."""
    with an_engine_of(tmp_path_factory.mktemp("lake")) as engine:
        found = session_of(engine), session_of(engine, ADMIN)
        do(found[1], "CREATE TABLE t (a int)")
        do(found[1], "CREATE SCHEMA z")
        yield found


@pytest.mark.parametrize("written", ODD)
def test_the_location_type_refuses_them(written: str) -> None:
    with pytest.raises(InvalidArgument):
        Location.parse(written.format(out="/srv/out", lake="/srv/lake", name="out"))


def test_the_location_type_takes_what_iceberg_writes() -> None:
    taken = {
        "/srv/a b/c": ("file", "", "/srv/a b/c"),
        "file:/srv/x": ("file", "", "/srv/x"),
        "file:///srv/x": ("file", "", "/srv/x"),
        "s3://bucket": ("s3", "bucket", ""),
        "s3a://my.bucket_1/k=v%2F..%2F/é/x.parquet": ("s3a", "my.bucket_1", "/k=v%2F..%2F/é/x.parquet"),
        "gs://b/p..q/..r/s..": ("gs", "b", "/p..q/..r/s.."),
        "abfss://box@account.dfs.core.windows.net/x": ("abfss", "box@account.dfs.core.windows.net", "/x"),
        "/srv/day=2024-01-01/00000-0-1.parquet": ("file", "", "/srv/day=2024-01-01/00000-0-1.parquet"),
        "/srv/a#b?c;d": ("file", "", "/srv/a#b?c;d"),
    }
    for text, parts in taken.items():
        found = Location.parse(text)
        assert (found.scheme, found.authority, found.path) == parts
        assert str(found) == text


@pytest.mark.parametrize("may", [(), ("attach", "local_files")])
def test_a_table_stays_in_the_warehouse(may: tuple[str, ...], tmp_path: Path) -> None:
    """With and without the right to touch files: `lake` is confined to its warehouse and to allowed_paths."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "precious.parquet").write_text("precious")
    before = files_below(out)
    with an_engine_of(tmp_path / "lake", may=may) as engine:
        for session in (session_of(engine), session_of(engine, ADMIN)):
            do(session, "CREATE TABLE IF NOT EXISTS t (a int)")
            for written in PLACES:
                place = written.format(out=out)
                for sql in (
                    f"CREATE TABLE x (a int) LOCATION '{place}'",
                    f"CREATE TABLE x LOCATION '{place}' AS SELECT 1 AS a",
                    f"CREATE TABLE x WITH ('write.data.path' = '{place}') AS SELECT 1 AS a",
                    f"CREATE TABLE x WITH ('write.metadata.path' = '{place}') AS SELECT 1 AS a",
                    f"CREATE TABLE t2 WITH ('write.object-storage.enabled' = 'true', 'write.data.path' = '{place}') "
                    "AS SELECT 1 AS a",
                ):
                    with pytest.raises(PermissionDenied):
                        do(session, sql)
        do(session_of(engine, ADMIN), f"CREATE SCHEMA q LOCATION '{out}'")
        with pytest.raises(PermissionDenied):
            do(session_of(engine), "CREATE TABLE q.x AS SELECT 1 AS a")
    assert files_below(out) == before


def test_no_link_leads_out_of_the_warehouse(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with an_engine_of(tmp_path / "lake") as engine:
        session = session_of(engine, ADMIN)
        do(session, "CREATE TABLE t AS SELECT 1 AS a")
        (warehouse,) = (tmp_path / "lake").glob("warehouse")
        (warehouse / "link").symlink_to(out)
        with pytest.raises(PermissionDenied):
            do(session, f"CREATE TABLE x LOCATION '{warehouse}/link/x' AS SELECT 1 AS a")
    assert files_below(out) == {}


def test_the_database_of_the_lake_is_no_place_for_tables(tmp_path: Path) -> None:
    with an_engine_of(tmp_path / "lake") as engine:
        session = session_of(engine, ADMIN)
        with pytest.raises(PermissionDenied):
            do(session, f"CREATE TABLE x LOCATION '{tmp_path}/lake/x' AS SELECT 1 AS a")


@pytest.mark.parametrize("way", ["location", "write.data.path"])
def test_orphans_are_removed_within_the_table_only(way: str, tmp_path: Path) -> None:
    """The embedded owner may put a table anywhere; removing orphans still does not leave its own location."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "old.txt").write_text("precious")
    with an_engine_of(tmp_path / "lake", served=False) as engine:
        session = session_of(engine)
        do(session, "CREATE TABLE t AS SELECT 1 AS a")
        if way == "write.data.path":
            do(session, f"ALTER TABLE t SET TBLPROPERTIES ('write.data.path' = '{out}')")
            do(session, "INSERT INTO t VALUES (2)")
        for place in (str(out), f"file://{out}", f"{tmp_path}/lake/warehouse/../../out", f" {out}", "/", tmp_path):
            with pytest.raises(PinakesError):
                do(
                    session,
                    f"CALL system.remove_orphan_files('t', location => '{place}', dry_run => false, "
                    "older_than => TIMESTAMP '2999-01-01 00:00:00')",
                )
        do(
            session,
            "CALL system.remove_orphan_files('t', dry_run => false, older_than => TIMESTAMP '2999-01-01 00:00:00')",
        )
        assert rows(session, "SELECT count(*) FROM t")[0][0] == (1 if way == "location" else 2)
    assert (out / "old.txt").read_text() == "precious"


def test_purge_and_expire_do_not_leave_the_table(tmp_path: Path) -> None:
    """add_files took in a file of another directory: it is read, and never deleted."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = tmp_path / "out"
    out.mkdir()
    pq.write_table(pa.table({"a": pa.array([1], pa.int32())}), out / "taken.parquet")
    with an_engine_of(tmp_path / "lake", served=False) as engine:
        session = session_of(engine)
        do(session, "CREATE TABLE t (a int)")
        do(session, f"CALL system.add_files('t', '{out}/taken.parquet')")
        assert rows(session, "SELECT a FROM t") == [(1,)]
        do(session, "DELETE FROM t")
        do(session, "CALL system.expire_snapshots('t', older_than => TIMESTAMP '2999-01-01 00:00:00')")
        assert (out / "taken.parquet").exists()
        do(session, f"CALL system.add_files('t', '{out}/taken.parquet')")
        do(session, "DROP TABLE t PURGE")
    assert (out / "taken.parquet").exists()
