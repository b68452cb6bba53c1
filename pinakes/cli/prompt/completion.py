"""Completion at the prompt: statements by `api/completion`, backslash commands by their table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer
from prompt_toolkit.completion import Completion as Shown
from prompt_toolkit.document import Document

from pinakes.api.completion import Completer as SqlCompleter
from pinakes.api.completion import Completion
from pinakes.api.completion.files import file_names
from pinakes.cli.commands import COMMANDS, find
from pinakes.cli.commands.output import SETTINGS
from pinakes.core.output.terminal_text import one_line

PATIENCE = 2.0
"""Seconds that a menu may grow while a catalog is being listed. Typing continues meanwhile."""
_STEP = 0.05
PAUSE = 0.03
"""Seconds without input before a menu opens, so that pasted text opens one menu and not one per character."""
HASTE = 0.15
"""Seconds that a menu waits for fetched names: later ones are appended at its end, regardless of their rank."""
_PREFIXES = {"relation": "DESCRIBE ", "place": "USE "}


class ShellCompleter(Completer):
    def __init__(self, sql: SqlCompleter) -> None:
        self._sql = sql

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Shown]:
        if not complete_event.completion_requested and not _is_begun(document):
            return
        for each in self.complete(document.text, document.cursor_position):
            start = each.start - document.cursor_position
            yield Shown(each.text, start, display=one_line(each.text), display_meta=each.kind)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Shown, None]:
        """Yields the known completions, and then those that arrive while catalogs are being listed."""
        if not complete_event.completion_requested:
            await asyncio.sleep(PAUSE)
        given: set[str] = set()
        waited = await self._request(document, complete_event)
        while True:
            loaded = self._sql.loaded
            for each in self.get_completions(document, complete_event):
                if each.text not in given:
                    given.add(each.text)
                    yield each
            while True:
                busy = self._sql.busy  # read first, so that a load that ends in between is noticed below
                if self._sql.loaded != loaded:
                    break
                if not busy or waited >= PATIENCE:
                    return
                await asyncio.sleep(_STEP)
                waited += _STEP

    async def _request(self, document: Document, complete_event: CompleteEvent) -> float:
        """Fetches the names that the menu needs, as far as this is fast; returns the seconds spent."""
        waited = 0.0
        while waited < HASTE:
            for _ in self.get_completions(document, complete_event):  # this may start further loads
                pass
            if not self._sql.busy:
                break
            await asyncio.sleep(PAUSE)
            waited += PAUSE
        return waited

    def complete(self, text: str, cursor: int) -> list[Completion]:
        line_start = text.rfind("\n", 0, cursor) + 1
        line = text[line_start:cursor]
        if line.lstrip().startswith("\\"):
            return list(self._of_command(line.lstrip(), cursor))
        return self._sql.complete(text, cursor)

    def _of_command(self, line: str, cursor: int) -> Iterator[Completion]:
        name, space, argument = line.partition(" ")
        if not space:
            names = sorted(name for command in COMMANDS for name in command.names)
            yield from (Completion(each, cursor - len(name), "command") for each in names if each.startswith(name))
            return
        command = find(line)
        argument = argument.lstrip()
        if command is None:
            return
        if command.choices:
            yield from _complete_choice(name, command.choices, argument, cursor)
        elif command.takes == "file":
            yield from (Completion(each, cursor - len(argument), "file") for each in file_names(argument))
        elif command.takes in _PREFIXES:
            statement = _PREFIXES[command.takes] + argument
            moved = cursor - len(statement)
            found = self._sql.complete(statement, len(statement))
            yield from (each._replace(start=each.start + moved) for each in found if each.kind != "keyword")


def _complete_choice(name: str, choices: tuple[str, ...], argument: str, cursor: int) -> Iterator[Completion]:
    first, space, rest = argument.partition(" ")
    if name == "\\pset" and space:
        choices, argument = SETTINGS.get(first, ()), rest.lstrip()
    for each in choices:
        if each.startswith(argument):
            yield Completion(each, cursor - len(argument), "value")


def _is_begun(document: Document) -> bool:
    """Whether there is a prefix to complete: a menu must not open after each space."""
    before = document.char_before_cursor
    return before.isalnum() or (before != "" and before in "_.\\/\"'`")
