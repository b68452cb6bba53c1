"""Completion at the prompt: commands and their arguments, and when a menu may pop up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from pinakes.cli.prompt import completion
from pinakes.cli.prompt.completion import ShellCompleter
from tests.cli.seats import SEATS, seated


@pytest.fixture(scope="module", params=SEATS)
def completer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellCompleter]:
    with seated(request.param, tmp_path_factory.mktemp("prompt")) as backend:
        for sql in (
            "create table orders (id bigint)",
            "create schema sales",
            "create table sales.items (total bigint)",
        ):
            for _ in backend.run(sql):
                pass
        sql_completer = backend.completer()
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
    assert offered(completer, "\\c sa")[0] == ("sales", -2)
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


def test_what_fits_best_comes_first_though_it_has_to_be_fetched(
    completer: ShellCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions are known at once, the columns of a table only after it was asked for."""

    async def menu(text: str) -> list[str]:
        event = CompleteEvent(completion_requested=True)
        return [each.text async for each in completer.get_completions_async(Document(text), event)]

    monkeypatch.setattr(completion, "HASTE", 60.0)
    completer._sql.expire()
    assert asyncio.run(menu("select * from lake.sales.items where to"))[:1] == ["total"]
