"""Checks the storage: data directory, spill directory, free disk space, and file locks for SQLite."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pinakes.cli.subcommands.doctor.finding import Finding, Patient, amount, note, ok, problem, warning
from pinakes.config.model import MEMORY

LITTLE, TOO_LITTLE = 2 * 10**9, 100 * 10**6
"""Free bytes: a warning below the first value, a problem below the second."""
SKEW = 5.0
"""Seconds by which the clock of a file system may differ."""

_TRY_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    connection.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    sys.exit(0 if "locked" in str(error) else str(error))
sys.exit(3)
"""


def storage(patient: Patient) -> Iterator[Finding]:
    if patient.config is None:
        return
    engine = patient.config.engine
    if engine.data == MEMORY:
        yield note(
            "data directory",
            "temporary: it goes at exit",
            "give --data, or engine.data in the configuration, to keep data",
        )
    else:
        yield from _directory("data directory", Path(engine.data), "engine.data, or --data,")
    spill = Path(engine.spill_dir or tempfile.gettempdir())
    yield from _directory("spill directory", spill, "engine.spill_dir")
    yield from _locks(spill if engine.data == MEMORY else Path(engine.data))


def _directory(name: str, path: Path, setting: str) -> Iterator[Finding]:
    there = _nearest(path)
    if not there.is_dir():
        yield problem(name, f"{path}: {there} is a file, not a directory", f"let {setting} name a directory")
        return
    yield _writable(name, path, there, setting)
    free = shutil.disk_usage(there).free
    space = f"{amount(free)} free"
    if free >= LITTLE:
        yield ok(f"{name}: space", space)
    else:
        judged = problem if free < TOO_LITTLE else warning
        yield judged(f"{name}: space", space, f"free some, or let {setting} name a directory on another disk")


def _writable(name: str, path: Path, there: Path, setting: str) -> Finding:
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".pinakes-doctor-") as file:
            skew = abs(Path(file.name).stat().st_mtime - time.time())
    except OSError as error:
        advice = f"give yourself the right to write in {there}, or let {setting} name another directory"
        return problem(name, f"{path} can't be written: {error.strerror or error}", advice)
    if skew > SKEW:
        return warning(name, f"{path}: its file system's clock differs from ours by {skew:.0f} s",
                       "set both clocks by NTP: files are compared by their time")  # fmt: skip
    return ok(name, str(path) if path == there else f"{path} (made at first use)")


def _locks(directory: Path) -> Iterator[Finding]:
    there = _nearest(directory)
    if not there.is_dir():
        return
    name = "SQLite locks"
    advice = (
        "put engine.data on a local disk: this file system does not lock as SQLite needs it (some NFS mounts don't)"
    )
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".pinakes-doctor-") as scratch:
            failure = _lock_failure(Path(scratch) / "lock.db")
    except (OSError, sqlite3.Error) as error:
        yield problem(name, f"a SQLite database can't be made in {there}: {error}", advice)
        return
    yield ok(name, f"work in {there}") if failure is None else problem(name, failure, advice)


def _lock_failure(database: Path) -> str | None:
    """Returns the problem of this process's write lock as seen from another process; None if the lock works."""
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        connection.execute("CREATE TABLE t (a)")
        connection.execute("BEGIN IMMEDIATE")
        other = subprocess.run([sys.executable, "-I", "-c", _TRY_LOCK, str(database)],
                               capture_output=True, text=True, timeout=30, check=False)  # fmt: skip
        connection.execute("ROLLBACK")
    finally:
        connection.close()
    if mode != "wal":
        return f"write-ahead logging does not work here (journal mode {mode})"
    if other.returncode == 0:
        return None
    return (
        "two processes could write at once"
        if other.returncode == 3
        else f"another process fails: {other.stderr.strip()[-200:]}"
    )


def _nearest(path: Path) -> Path:
    """Returns the path or its nearest existing ancestor."""
    path = path.absolute()
    while not path.exists() and path.parent != path:
        path = path.parent
    return path
