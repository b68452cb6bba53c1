"""What the output goes into: pipes that close or that nobody reads, full disks; and nothing but rows in it."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pinakes.cli.formats import FORMATS, MACHINE_FORMATS
from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow

MANY = "select value, 'text' as s from generate_series(1, 50000000)"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pinakes", "--data", ":memory:", *arguments]


@pytest.mark.parametrize("name", FORMATS)
def test_a_closed_pipe_ends_quietly(tmp_path: Path, env: dict[str, str], name: str) -> None:
    """As `| head -1` does: the reader goes while millions of rows are still to come."""
    run = command("--format", name, "-c", MANY)
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(180) == 141


@pytest.mark.parametrize("name", ["table", "csv", "jsonl", "arrow"])
def test_ctrl_c_while_no_reader_takes_the_rows(tmp_path: Path, env: dict[str, str], name: str) -> None:
    """The statement waits for room in the pipe, for ever: one Ctrl-C is enough to leave."""
    reading, writing = os.pipe()
    with subprocess.Popen(command("--format", name, "-c", MANY), stdout=writing, stderr=subprocess.PIPE,
                          cwd=tmp_path, env=env) as process:  # fmt: skip
        os.close(writing)
        assert process.stderr is not None
        assert select.select([reading], [], [], 60)[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(180) == 130
        assert process.stderr.read() == b""
    os.close(reading)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk_is_an_error_and_no_traceback(tmp_path: Path, env: dict[str, str], name: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command("--format", name, "-c", "select 1 as a"), stdout=full, stderr=subprocess.PIPE,
                              cwd=tmp_path, env=env, text=True)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "WRITE_FAILED: can't write the output: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("argument", ["--help", "--version", "doctor"])
def test_what_is_no_result_fails_on_a_full_disk_too(
    tmp_path: Path, env: dict[str, str], argument: str, buffered: str
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command(argument), stdout=full, stderr=subprocess.PIPE, cwd=tmp_path,
                              env=env | {"PYTHONUNBUFFERED": buffered}, text=True)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "pinakes: can't write the output: No space left on device\n"


@pytest.mark.parametrize(("closed", "code"), [("1>&-", 0), ("2>&-", 0), ("0<&-", 0)])
def test_streams_that_the_shell_has_closed(tmp_path: Path, env: dict[str, str], closed: str, code: int) -> None:
    line = f"'{sys.executable}' -m pinakes --data :memory: -c 'select 1' {closed}"
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, cwd=tmp_path, env=env, text=True)
    assert (done.returncode, done.stderr) == (code, "")


# --- rows and nothing else ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MACHINE_FORMATS))
def test_only_rows_are_in_a_machine_format(tmp_path: Path, env: dict[str, str], name: str) -> None:
    """Tags, warnings and errors go elsewhere, also when there is an error in the middle."""
    sql = "create table t (a int); insert into t values (1); select a from t; set batch_size = 1; select * from nope"
    run = subprocess.run(command("--format", name, "-c", sql), capture_output=True, cwd=tmp_path, env=env)
    assert run.returncode == 1
    assert run.stderr.decode().splitlines()[:2] == ["CREATE TABLE", "INSERT 1"]
    assert b"TABLE_NOT_FOUND" in run.stderr
    expected = {"csv": b"a\n1\n", "tsv": b"a\n1\n", "json": b'[{"a":1}]\n', "jsonl": b'{"a":1}\n'}
    if name == "arrow":
        assert [t.to_pylist() for t in streams(run.stdout)] == [[{"a": 1}]]
    else:
        assert run.stdout == expected[name]


def test_arrow_has_one_stream_per_statement_with_rows(tmp_path: Path, env: dict[str, str]) -> None:
    sql = "select 1 a; select 'x' b where false; use lake; select [1, null] c"
    run = subprocess.run(command("--format", "arrow", "-c", sql), capture_output=True, cwd=tmp_path, env=env)
    assert [t.to_pylist() for t in streams(run.stdout)] == [[{"a": 1}], [], [{"c": [1, None]}]]
    assert [t.schema.names for t in streams(run.stdout)] == [["a"], ["b"], ["c"]]


def streams(data: bytes) -> list[pa.Table]:
    """Tables in a file of several IPC streams."""
    source, found = io.BytesIO(data), []
    while source.tell() < len(data):
        found.append(pa.ipc.open_stream(source).read_all())
    return found


def test_markdown_tables_are_apart(cli: Cli) -> None:
    done = cli("--format", "markdown", "-c", "select 1 a; select 2 b")
    assert done.stdout == "|   a |\n| --: |\n|   1 |\n\n|   b |\n| --: |\n|   2 |\n\n"


# --- COPY --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_copy_leaves_nothing(tmp_path: Path, env: dict[str, str], number: int, code: int) -> None:
    (tmp_path / "x.csv").write_text("old")
    sql = "copy (select a.value from range(1000000) a, range(1000000) b) to 'x.csv'"
    with subprocess.Popen(command("-c", sql), stderr=subprocess.PIPE, cwd=tmp_path, env=env) as process:
        assert process.stderr is not None
        while process.poll() is None and not any(p.stat().st_size for p in tmp_path.glob(".pinakes-*")):
            select.select([], [], [], 0.05)
        process.send_signal(number)
        assert process.wait(180) == code
        assert b"Traceback" not in process.stderr.read()
    assert (tmp_path / "x.csv").read_text() == "old"
    assert not list(tmp_path.glob(".pinakes-*"))


def test_a_disk_that_fills_up_during_copy_leaves_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    """A limit on the size of files does what a full disk does."""
    (tmp_path / "x.csv").write_text("old")
    sql = "copy (select * from range(1000000)) to 'x.csv'"
    line = f"ulimit -f 100; '{sys.executable}' -m pinakes --data :memory: -c \"{sql}\""
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, cwd=tmp_path, env=env, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("WRITE_FAILED: can't write ")
    assert done.stderr.endswith("/x.csv': File too large\n")
    assert (tmp_path / "x.csv").read_text() == "old"
    assert not list(tmp_path.glob(".pinakes-*"))


def test_copy_to_our_own_output(cli: Cli) -> None:
    done = cli("--format", "csv", "-c", "select 1 a; copy (select 2 as b) to '/dev/stdout' (format csv); select 3 c")
    assert (done.stdout, done.stderr) == ("a\n1\nb\n2\nc\n3\n", "COPY 1\n")
