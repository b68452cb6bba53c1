"""Writes that fail on the way: no room left, a store that refuses the n-th request, a database that hangs up.

After each, the table has the state before or after, whoever comes next can write, and what was acknowledged is there.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from pyarrow.fs import FileSelector, FileType, S3FileSystem

from pinakes.core.errors import PinakesError
from pinakes.engine.session import Session
from tests.engine.support import an_engine, do, in_order, parquet_files, rows
from tests.providers.cutting_proxy import CuttingProxy
from tests.providers.databases import empty_database
from tests.providers.kinds import new_name, store_secret
from tests.providers.proxy import Answer, Asked, proxied
from tests.servers.base import Facts

CHANGES = {
    "insert": "INSERT INTO t SELECT value, repeat('x', 10) FROM range(10, 2000)",
    "update": "UPDATE t SET v = 'changed'",
    "delete": "DELETE FROM t WHERE id = 2",
    "merge": "MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 9) AS s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
    "create": "CREATE TABLE u AS SELECT value AS id FROM range(2000)",
}
BEFORE = [(1, "a"), (2, "b")]


def begun(session: Session) -> None:
    do(session, "CREATE TABLE t (id BIGINT, v VARCHAR)")
    do(session, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")


def outcome(session: Session, sql: str) -> str:
    """The code of the error that a statement ends with; empty if there is none."""
    try:
        do(session, sql)
    except PinakesError as error:
        return error.code
    return ""


# --- no room -------------------------------------------------------------------------------------------------------


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """No file can become longer than this: writing beyond it fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@contextmanager
def left(room: int, place: Path) -> Iterator[None]:
    """A disk that has only this much room."""
    ballast = place / "ballast"
    ballast.write_bytes(b"x" * max(0, shutil.disk_usage(place).free - room))
    try:
        yield
    finally:
        ballast.unlink()


@pytest.mark.parametrize("change", ["insert", "create"])
def test_a_file_that_becomes_too_long(tmp_path: Path, change: str) -> None:
    limits = (100, 700, 1500, 2500, 3500, 4500, 6000, 9000)
    assert _failures(tmp_path, change, [lambda n=n: at_most(n) for n in limits]) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_full_disk(tmp_path: Path, change: str) -> None:
    """Of one after the other of the files: data, manifest, list, metadata, the catalog's own."""
    with small_disk(tmp_path / "disk") as place:
        rooms = [page * 4096 for page in range(12)]
        assert _failures(place, change, [lambda n=n: left(n, place) for n in rooms]) >= 3


def _failures(place: Path, change: str, narrowings: Sequence[Callable[[], AbstractContextManager[None]]]) -> int:
    """How often a statement failed for want of room, with less and less want of it. Nothing is left of it each time."""
    failures = 0
    with an_engine(place) as engine:
        session = engine.session()
        begun(session)
        files = parquet_files(place)
        for narrow in narrowings:
            with narrow():
                code = outcome(session, CHANGES[change])
            if code == "":
                break
            failures += 1
            assert code in ("WRITE_FAILED", "CATALOG_UNAVAILABLE", "COMMIT_UNKNOWN")
            assert in_order(rows(session, "SELECT * FROM t")) == BEFORE
            assert rows(session, "SHOW TABLES") == [("t",)]
            if code == "COMMIT_UNKNOWN":  # the database itself failed in the midst of it
                files = parquet_files(place)
            assert parquet_files(place) == files, "what it wrote is removed at once"
        do(session, "INSERT INTO t VALUES (3, 'c')")
        assert (3, "c") in rows(session, "SELECT * FROM t")
    return failures


# --- an object store that refuses ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("change", ["insert", "update", "create"])
def test_the_nth_request_of_writing_is_refused(tmp_path: Path, s3_server: Facts, change: str) -> None:
    """Each of the files of a statement in turn, until there is none left to refuse."""
    place = f"{s3_server['bucket']}/{new_name()}"
    with proxied(s3_server["uri"]) as proxy, an_engine(tmp_path) as engine:
        session = engine.session()
        do(session, store_secret({**s3_server, "uri": proxy.uri}))
        do(
            session,
            f"ATTACH '{tmp_path / 'c.db'}' AS cat (TYPE sqlite, WAREHOUSE 's3://{place}', STORAGE_SECRET store)",
        )
        do(session, "CREATE SCHEMA cat.n")
        do(session, "USE cat.n")
        begun(session)
        objects = _objects(s3_server, place)
        for number in range(1, 20):
            seen = [0]

            def refuse(asked: Asked, seen: list[int] = seen, number: int = number) -> Answer | None:
                seen[0] += asked.method in ("PUT", "POST") and "delete" not in asked.path
                refused = seen[0] == number and asked.method in ("PUT", "POST")
                return Answer(403, b"<Error><Code>AccessDenied</Code></Error>") if refused else None

            proxy.before = refuse
            code = outcome(session, CHANGES[change])
            proxy.before = lambda _: None
            if code == "":
                break
            assert code in ("PERMISSION_DENIED", "WRITE_FAILED", "CATALOG_UNAVAILABLE")
            assert in_order(rows(session, "SELECT * FROM t")) == BEFORE
            assert _data(_objects(s3_server, place)) == _data(objects), "what it wrote is removed at once"
        assert number >= 4, "a data file, a manifest, a list and the metadata"
        assert in_order(rows(session, "SELECT * FROM t")) != BEFORE or change == "create"


def _objects(facts: Facts, place: str) -> set[str]:
    system = S3FileSystem(
        access_key=facts["key_id"],
        secret_key=facts["secret"],
        region=facts["region"],
        endpoint_override=facts["uri"],
    )
    found = system.get_file_info(FileSelector(place, recursive=True))
    return {info.path for info in found if info.type == FileType.File}


def _data(paths: set[str]) -> set[str]:
    return {path for path in paths if path.endswith(".parquet")}


# --- a database that hangs up --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("server", ["postgres_server", "mariadb_server"])
def test_the_answer_to_the_commit_is_lost(
    request: pytest.FixtureRequest, tmp_path: Path, server: str, heard: bool
) -> None:
    """If the database heard it, the row is found by looking. If not, that is said, and the file stays."""
    with empty_database(request.getfixturevalue(server)) as database, an_engine(tmp_path) as engine:
        proxy = CuttingProxy(int(database.facts["port"]))
        location = database.location.replace(f":{database.facts['port']}/", f":{proxy.port}/")
        session = engine.session()
        do(session, f"ATTACH '{location}' AS cat (TYPE jdbc, WAREHOUSE '{tmp_path / 'w'}')")
        do(session, "CREATE SCHEMA cat.n")
        do(session, "USE cat.n")
        begun(session)
        before = parquet_files(tmp_path)
        proxy.cut_at("COMMIT", heard=heard)
        assert outcome(session, "INSERT INTO t VALUES (3, 'c')") == ("" if heard else "COMMIT_UNKNOWN")
        assert proxy.cuts == 1
        assert in_order(rows(session, "SELECT * FROM t")) == [*BEFORE, *([(3, "c")] if heard else [])]
        assert len(parquet_files(tmp_path)) == len(before) + 1
        do(session, "INSERT INTO t VALUES (4, 'd')")
        proxy.close()
