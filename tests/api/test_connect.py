"""connect(): configuration, who asks, settings, engines that are shared, threads, the end."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import pinakes
from pinakes.api import engines
from pinakes.config.model import Config, EngineConfig
from tests.engine.support import in_thread, wait_until

pytestmark = pytest.mark.slow

ENDLESS = "SELECT sum(value % 7) FROM range(100000000000)"


def test_importing_is_light() -> None:
    code = (
        "import sys, pinakes; pinakes.apilevel; "
        "print([m for m in ('pyarrow', 'datafusion', 'sqlglot', 'pinakes.api') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_frames_are_not_loaded_before_they_are_requested() -> None:
    """Of the two only polars: DataFusion loads pandas, where it is installed, by itself."""
    code = (
        "import sys, pinakes; con = pinakes.connect(data=':memory:'); con.sql('SELECT 1').arrow(); "
        "print('polars' in sys.modules); con.sql('SELECT 1').pl(); print('polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["False", "True"], "")


def test_configurations(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text("[engine]\ndata = 'here'\ntime_zone = 'Asia/Tokyo'\n")
    for given in (file, str(file)):
        with pinakes.connect(given) as con:
            assert con.execute("SHOW time_zone").fetchone() == ("Asia/Tokyo",)
            con.execute("CREATE TABLE IF NOT EXISTS t (a INT)")
    assert (tmp_path / "here" / "catalog.db").exists()
    config = Config(engine=replace(EngineConfig(), data=str(tmp_path / "here")))
    with pinakes.connect(config) as con:
        assert con.execute("SHOW TABLES").fetchall() != []
    with pinakes.connect(config, data=tmp_path / "there") as con:
        assert con.execute("SHOW TABLES").fetchall() == []


def test_wrong_configurations(tmp_path: Path) -> None:
    with pytest.raises(pinakes.OperationalError, match="there is no configuration file"):
        pinakes.connect(tmp_path / "nope.toml")
    with pytest.raises(pinakes.OperationalError, match="data directory is empty"):
        pinakes.connect(data="")


def test_a_place_for_data_is_no_configuration(tmp_path: Path) -> None:
    """What users of DuckDB write first."""
    for given in (":memory:", tmp_path, str(tmp_path)):
        with pytest.raises(
            pinakes.OperationalError, match=r"is not a configuration file\. To name a data directory, use data="
        ):
            pinakes.connect(given)


def test_settings() -> None:
    with pinakes.connect(data=":memory:", time_zone="Europe/Berlin", batch_size=100, python_scan=False) as con:
        assert con.execute("SHOW time_zone").fetchone() == ("Europe/Berlin",)
        assert con.sql("SELECT value FROM range(1000)").reader().read_next_batch().num_rows == 100
        con.execute("SET time_zone = 'UTC'")
        con.execute("RESET time_zone")
        assert con.execute("SHOW time_zone").fetchone() == ("Europe/Berlin",)
    with pytest.raises(pinakes.ProgrammingError, match="setting 'colour' does not exist; available: batch_size"):
        pinakes.connect(data=":memory:", colour="red")
    with pytest.raises(pinakes.ProgrammingError, match="python_scan must be true or false, not 'maybe'"):
        pinakes.connect(data=":memory:", python_scan="maybe")
    with pytest.raises(pinakes.ProgrammingError, match="batch_size must be a whole number"):
        pinakes.connect(data=":memory:", batch_size="many")


def test_who_asks() -> None:
    with pinakes.connect(data=":memory:", user="ada", token="hidden") as con:
        assert con.execute("SELECT current_user").fetchone() == ("ada",)
        assert con.session.identity.token == "hidden"
        assert "hidden" not in repr(con.session.identity)


def test_connections_share_an_engine(tmp_path: Path) -> None:
    """So what one writes or attaches is there for the other at once."""
    one, other = pinakes.connect(data=tmp_path / "lake"), pinakes.connect(data=tmp_path / "lake")
    assert one.session.engine is other.session.engine
    assert one.session is not other.session
    one.execute("CREATE TABLE t (a INT)")
    for n in range(3):
        one.execute("INSERT INTO t VALUES (1)")
        assert other.execute("SELECT count(*) FROM t").fetchone() == (n + 1,)
    one.execute("CREATE SCHEMA s")
    one.execute("USE s")
    assert other.execute("SELECT current_schema").fetchone() == ("default",)
    one.close()
    assert other.execute("SELECT count(*) FROM t").fetchone() == (3,)
    other.close()
    assert engines._shared == []


def test_memory_is_not_shared() -> None:
    with pinakes.connect(data=":memory:") as one, pinakes.connect(data=":memory:") as other:
        one.execute("CREATE TABLE t (a INT)")
        assert other.execute("SHOW TABLES").fetchall() == []


def test_a_forgotten_connection_gives_its_engine_back(tmp_path: Path) -> None:
    con = pinakes.connect(data=tmp_path / "lake")
    relation = con.sql("SELECT 1 AS a")
    del con
    gc.collect()
    rows = relation.fetchall()
    assert (rows, len(engines._shared)) == ([(1,)], 1)
    del relation
    gc.collect()
    assert engines._shared == []


def test_a_script_that_closes_nothing_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import pinakes; con = pinakes.connect(data=':memory:'); con.execute('CREATE TABLE t (a INT)'); "
        "rows = con.sql('SELECT * FROM t'); print(con.session.engine.config.engine.data)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"TMPDIR": str(tmp_path), "PATH": ""}
    )
    assert (done.stdout.strip(), done.stderr) == (":memory:", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks that end with their process")
def test_what_a_killed_process_leaves_the_next_one_removes(tmp_path: Path) -> None:
    make = "import os, signal, pinakes; con = pinakes.connect(data=':memory:'); con.execute('CREATE TABLE t (a INT)'); "
    for last, left in (("os.kill(os.getpid(), signal.SIGKILL)", 1), ("con.close()", 0)):
        subprocess.run([sys.executable, "-c", make + last], env={"TMPDIR": str(tmp_path), "PATH": ""})
        assert len(list(tmp_path.iterdir())) == left


def test_files_of_a_temporary_lake_can_be_read_by_their_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unlike those of temporary tables, which are the session's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pinakes.connect(data=":memory:") as con:
        con.execute("CREATE TABLE t AS SELECT 7 AS a")
        (file,) = tmp_path.rglob("*.parquet")
        assert con.execute(f"SELECT a FROM '{file}'").fetchall() == [(7,)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_leaves_the_engine_to_its_parent() -> None:
    """Its exit must not remove the files that the parent still uses. In processes of their own: pytest has threads."""
    code = """
import os, pinakes
con = pinakes.connect(data=":memory:")
con.execute("CREATE TABLE t AS SELECT 7 AS a")
child = os.fork()
if child == 0:
    raise SystemExit
os.waitpid(child, 0)
print(con.execute("SELECT a FROM t").fetchall())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[(7,)]", "")


def test_a_closed_connection_stops_what_runs() -> None:
    con = pinakes.connect(data=":memory:")
    reading = in_thread(con.sql(ENDLESS).fetchall)
    wait_until(lambda: con.session.engine.tracker.snapshot()[-1].state == "RUNNING", "it runs")
    con.close()
    with pytest.raises(pinakes.OperationalError, match="the session was closed"):
        reading()


def test_cancel_from_another_thread(con: pinakes.Connection) -> None:
    reads = (lambda: con.execute(ENDLESS).fetchall(), lambda: con.sql(ENDLESS).arrow(), lambda: con.sql(ENDLESS).df())
    for read in reads:
        reading = in_thread(read)
        wait_until(lambda: con.session.engine.tracker.snapshot()[-1].state == "RUNNING" or None, "it runs")
        con.cancel()
        with pytest.raises(pinakes.OperationalError) as caught:
            reading()
        assert getattr(caught.value, "code", "") == "QUERY_CANCELED"
    assert con.execute("SELECT 1").fetchone() == (1,)


def test_threads_share_a_connection(con: pinakes.Connection) -> None:
    con.register("numbers", pa.table({"n": list(range(1000))}))

    def work(number: int) -> list[tuple[int]]:
        cursor = con.cursor()
        return [cursor.execute("SELECT sum(n + ?) FROM numbers", [number]).fetchall()[0] for _ in range(10)]

    waiting = [in_thread(lambda n=n: work(n)) for n in range(4)]
    for number, wait in enumerate(waiting):
        assert wait() == [(499_500 + 1000 * number,)] * 10


def test_threads_that_keep_one_relation_get_the_same_rows(con: pinakes.Connection) -> None:
    relation = con.sql("SELECT value FROM range(200000)")
    waiting = [in_thread(relation.arrow) for _ in range(4)]
    tables = [wait() for wait in waiting]
    assert all(table is tables[0] for table in tables)
    assert tables[0].num_rows == 200_000


def test_a_connection_shows_where_it_is() -> None:
    con = pinakes.connect(data=":memory:", token="hidden")
    assert repr(con) == "<pinakes.Connection: :memory:>"
    con.close()
    assert repr(con) == "<pinakes.Connection: closed>"


def test_warnings_of_the_engine_are_warnings(con: pinakes.Connection) -> None:
    con.session.warnings.append("something to know")
    with pytest.warns(pinakes.Warning, match="something to know") as caught:
        con.execute("SELECT 1")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        con.execute("SELECT 1")
