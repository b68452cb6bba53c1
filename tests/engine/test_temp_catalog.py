"""Temporary tables beyond what SQL alone can say: sessions, threads, and what is left on disk."""

from __future__ import annotations

import gc
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from pinakes.core.errors import CatalogUnavailable, InvalidArgument, QueryCanceled, TableNotFound
from pinakes.engine.files.access import PRIVATE
from pinakes.engine.files.scratch import Scratch
from tests.engine.support import FORKS, PATIENCE, an_engine, do, how_many, in_thread, parquet_files, rows


def left(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"{PRIVATE}*"))


def test_a_session_that_makes_nothing_temporary_has_no_directory(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        do(session, "CREATE TABLE t AS SELECT 1 AS a")
        do(session, "SELECT * FROM t")
        with pytest.raises(TableNotFound):
            do(session, "SELECT * FROM nothing")
        assert left(tmp_path) == []


def test_it_goes_with_the_session(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        one, two = engine.session(), engine.session()
        do(one, "CREATE TEMP TABLE t AS SELECT 'one' AS who")
        do(two, "CREATE TEMP TABLE t AS SELECT 'two' AS who")
        assert len(left(tmp_path)) == 2
        assert (left(tmp_path)[0].stat().st_mode & 0o777) == 0o700
        one.close()
        assert len(left(tmp_path)) == 1
        assert rows(two, "SELECT who FROM t") == [("two",)]
        with pytest.raises(TableNotFound):
            do(one, "SELECT who FROM t")
        with pytest.raises(InvalidArgument, match="this session is closed, and its temporary tables are dropped"):
            do(one, "CREATE TEMP TABLE t (a INT)")
        one.close()
    assert left(tmp_path) == []


def test_it_is_removed_when_the_session_is_not_closed(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        do(session, "CREATE TEMP TABLE t AS SELECT 1 AS a")
        assert rows(session, "SELECT a FROM t") == [(1,)]
        del session
        gc.collect()
        assert left(tmp_path) == []


def test_a_result_keeps_its_session(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        do(session, "CREATE TEMP TABLE t AS SELECT value AS a FROM range(100000)")
        result = session.run("SELECT a FROM t")
        del session
        gc.collect()
        assert sum(batch.num_rows for batch in result) == 100_000
        del result
        gc.collect()
        assert left(tmp_path) == []


def test_dropped_rows_leave_the_disk_unless_they_are_still_read(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        do(session, "CREATE TEMP TABLE t AS SELECT value AS a FROM range(1000)")
        do(session, "DELETE FROM t WHERE a < 500")
        assert parquet_files(tmp_path)
        do(session, "DROP TABLE t")
        assert parquet_files(tmp_path) == set()
        do(session, "CREATE TEMP TABLE t AS SELECT value AS a FROM range(1000)")
        unread = session.run("SELECT a FROM t")
        do(session, "DROP TABLE t")
        assert sum(batch.num_rows for batch in unread) == 1000


def test_threads_of_one_session_share_it(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        waiting = [in_thread(lambda n=n: do(session, f"CREATE TEMP TABLE t{n} AS SELECT {n} AS a")) for n in range(6)]
        for joined in waiting:
            joined()
        assert len(left(tmp_path)) == 1
        assert rows(session, "SHOW TABLES") == [(f"t{n}",) for n in range(6)]
        assert rows(session, "SELECT sum(a) FROM (SELECT * FROM t0 UNION ALL SELECT * FROM t5)") == [(5,)]


def test_many_sessions_with_the_same_names(tmp_path: Path) -> None:
    def work(number: int) -> list[tuple[object, ...]]:
        session = engine.session()
        do(session, f"CREATE TEMP TABLE t AS SELECT {number} AS a")
        do(session, "CREATE TEMP VIEW v AS SELECT a * 10 AS b FROM t")
        do(session, "UPDATE t SET a = a + 1")
        found = rows(session, "SELECT b FROM v")
        session.close()
        return found

    with an_engine(spill_dir=str(tmp_path)) as engine:
        waiting = [in_thread(lambda n=n: work(n)) for n in range(6)]
        assert [joined() for joined in waiting] == [[((n + 1) * 10,)] for n in range(6)]
        assert left(tmp_path) == []


def test_a_new_directory_is_never_taken_for_one_left_behind(tmp_path: Path) -> None:
    def work() -> bool:
        kept = []
        for _ in range(how_many(50, 1000)):
            scratch = Scratch(str(tmp_path))
            (scratch.path / "mine").write_text("")
            kept.append((scratch.path / "mine").exists())
            scratch.remove()
        return all(kept)

    waiting = [in_thread(work) for _ in range(8)]
    assert all(joined() for joined in waiting)
    assert left(tmp_path) == []


def test_closing_stops_what_runs(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        do(session, "CREATE TEMP TABLE t AS SELECT 1 AS a")
        stream = iter(session.run("SELECT value FROM range(1000000000)"))
        next(stream)
        session.close()
        with pytest.raises(QueryCanceled):
            for _ in stream:
                pass
        assert left(tmp_path) == []


def test_no_place_for_it(tmp_path: Path) -> None:
    with an_engine(spill_dir=str(tmp_path / "spill")) as engine:
        (tmp_path / "spill").touch()
        session = engine.session()
        with pytest.raises(CatalogUnavailable, match=r"there is no place for temporary tables in .*spill_dir"):
            do(session, "CREATE TEMP TABLE t (a INT)")
        do(session, "CREATE TABLE t (a INT)")


# --- what a process that was killed leaves ------------------------------------------------------------------------


def make_and_wait(spill: str, pipe: Connection) -> None:
    with an_engine(spill_dir=spill) as engine:
        session = engine.session()
        do(session, "CREATE TEMP TABLE t AS SELECT value AS a FROM range(1000)")
        pipe.send("made")
        pipe.recv()


def test_the_next_one_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    here, there = FORKS.Pipe()
    process = FORKS.Process(target=make_and_wait, args=(str(tmp_path), there))
    process.start()
    there.close()
    assert here.poll(PATIENCE), "it does not begin"
    assert here.recv() == "made"
    (others,) = left(tmp_path)
    with an_engine(spill_dir=str(tmp_path)) as engine:
        do(engine.session(), "CREATE TEMP TABLE t (a INT)")
        assert others in left(tmp_path), "its owner is alive"
    process.kill()
    process.join(PATIENCE)
    assert process.exitcode == -signal.SIGKILL
    assert left(tmp_path) == [others]
    with an_engine(spill_dir=str(tmp_path)) as engine:
        session = engine.session()
        do(session, "CREATE TEMP TABLE t (a INT)")
        assert others not in left(tmp_path)
        assert len(left(tmp_path)) == 1
    assert left(tmp_path) == []
    here.close()


def test_only_what_is_ours_is_removed(tmp_path: Path) -> None:
    keep = [tmp_path / "other", tmp_path / f"{PRIVATE}file", tmp_path / "target"]
    keep[0].mkdir()
    keep[1].touch()
    keep[2].mkdir()
    (keep[2] / "owner.lock").touch()
    (tmp_path / f"{PRIVATE}link").symlink_to(keep[2])
    (tmp_path / f"{PRIVATE}abandoned" / "warehouse").mkdir(parents=True)
    scratch = Scratch(str(tmp_path))
    assert all(path.exists() for path in keep)
    assert (keep[2] / "owner.lock").exists()
    assert not (tmp_path / f"{PRIVATE}abandoned").exists()
    other = Scratch(str(tmp_path))
    assert scratch.path.exists(), "one of the same process is in use, too"
    for made in (scratch, other):
        made.remove()
        made.remove()
        assert not made.path.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_leaves_it_to_its_parent(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    process = os.fork()
    if process == 0:
        scratch.remove()
        os._exit(0)
    assert os.waitpid(process, 0)[1] == 0
    assert scratch.path.exists()
    scratch.remove()
