"""Calls that Ctrl-C stops: the interrupt is never lost, what the call gave is not either, and nobody waits for ever."""

from __future__ import annotations

import threading
from _thread import interrupt_main
from pathlib import Path
from typing import Any

import pytest

import pinakes
from pinakes.api import interruptible as module
from pinakes.api.interruptible import Foreground, undisturbed
from pinakes.engine.iceberg.write import commit as commit_module

LONG = 30.0


def test_it_gives_what_the_call_gives() -> None:
    assert Foreground(lambda: 42, lambda: None).run() == 42


def test_it_raises_what_the_call_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        Foreground(lambda: 1 // 0, lambda: None).run()


def test_an_interrupt_before_there_is_anything_to_cancel_is_not_lost() -> None:
    canceled = threading.Event()
    calls: list[None] = []

    def cancel() -> None:
        calls.append(None)
        if len(calls) > 1:  # the first finds nothing to cancel
            canceled.set()

    def call() -> bool:
        interrupt_main()
        return canceled.wait(LONG)

    call_ = Foreground(call, cancel)
    assert call_.run() is True
    assert call_.interrupted


def test_something_is_done_meanwhile() -> None:
    ticked = threading.Event()
    assert Foreground(lambda: ticked.wait(LONG), lambda: None, meanwhile=ticked.set).run() is True


def test_nobody_waits_for_a_call_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", 0.0)
    never = threading.Event()

    def call() -> None:
        interrupt_main()
        never.wait(LONG)

    try:
        with pytest.raises(KeyboardInterrupt):
            Foreground(call, lambda: None, is_stuck=lambda: True).run()
    finally:
        never.set()


# --- connections of Python -----------------------------------------------------------------------------------------


def test_ctrl_c_during_a_commit_leaves_the_table_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when the commit has happened and the statement does not know yet: its files are the table's by then."""
    commit_of_the_catalog = commit_module._compare_and_set

    def interrupted(transaction: Any) -> None:
        commit_of_the_catalog(transaction)
        interrupt_main()

    with pinakes.connect(data=tmp_path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS id")
        monkeypatch.setattr(commit_module, "_compare_and_set", interrupted)
        with pytest.raises(KeyboardInterrupt):
            connection.execute("INSERT INTO t VALUES (2)")
        monkeypatch.undo()
        assert sorted(connection.execute("SELECT id FROM t").fetchall()) == [(1,), (2,)]


def test_ctrl_c_ends_a_statement_of_a_connection(tmp_path: Path) -> None:
    with pinakes.connect(data=tmp_path) as connection:
        connection.execute("CREATE TABLE t (id BIGINT)")
        threading.Timer(0.2, interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            connection.execute("INSERT INTO t SELECT sum(value) FROM range(100000000000)")
        assert connection.execute("SELECT count(*) FROM t").fetchall() == [(0,)]
        assert not list(tmp_path.rglob("*.parquet")), "it was canceled, so what it wrote is removed"


def test_what_a_call_gave_is_discarded_when_it_was_interrupted() -> None:
    discarded: list[int] = []

    def call() -> int:
        interrupt_main()
        return 42

    with pytest.raises(KeyboardInterrupt):
        undisturbed(call, lambda: None, discarded.append)
    assert discarded == [42]
