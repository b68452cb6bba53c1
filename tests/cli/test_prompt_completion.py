"""Completion at the prompt: commands and their arguments, and when a menu may pop up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pinakes.api.build import open_engine
from pinakes.api.completion import Completer
from pinakes.cli.completion import ShellCompleter
from pinakes.core.config import parse_config


@pytest.fixture(scope="module")
def completer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellCompleter]:
    directory = tmp_path_factory.mktemp("prompt")
    with open_engine(parse_config("[engine]\ndata = ':memory:'", directory)) as engine:
        session = engine.session()
        for sql in ("create table orders (id bigint)", "create schema sales"):
            for _ in session.run(sql):
                pass
        sql_completer = Completer(session)
        sql_completer.refresh()
        assert sql_completer.settle(60)
        yield ShellCompleter(sql_completer)


def offered(completer: ShellCompleter, text: str, *, asked: bool = True) -> list[tuple[str, int]]:
    event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
    return [(c.text, c.start_position) for c in completer.get_completions(Document(text), event)]


def test_commands_and_their_arguments(completer: ShellCompleter) -> None:
    assert offered(completer, "\\dt") == [("\\dt", -3)]
    assert ("\\timing", -2) in offered(completer, "\\t")
    assert offered(completer, "\\d ord") == [("orders", -3)]
    assert offered(completer, "\\c sa") == [("sales", -2)]
    assert offered(completer, "\\x a") == [("auto", -1)]
    assert offered(completer, "\\format j") == [("json", -1), ("jsonl", -1)]
    assert offered(completer, "\\pset pa") == [("pager", -2)]
    assert offered(completer, "\\pset pager o") == [("on", -1), ("off", -1)]
    assert offered(completer, "\\nope x") == []
    assert offered(completer, "select 1\n\\ti") == [("\\timing", -3)]


def test_files(completer: ShellCompleter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "load.sql").touch()
    monkeypatch.chdir(tmp_path)
    assert offered(completer, "\\i lo") == [("load.sql", -2)]


def test_a_menu_pops_up_only_when_something_was_begun(completer: ShellCompleter) -> None:
    assert offered(completer, "select * from ", asked=False) == []
    assert ("orders", 0) in offered(completer, "select * from ")
    assert ("orders", -1) in offered(completer, "select * from o", asked=False)
    assert ("orders", 0) in offered(completer, "select * from lake.default.", asked=False)
