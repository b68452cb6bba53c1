"""The interactive shell: multi-line statements up to a `;`, completion, history, and Ctrl-C that cancels a statement
only."""

from __future__ import annotations

import asyncio
import gc
from itertools import count
from pathlib import Path

import platformdirs
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.layout.processors import HighlightMatchingBracketProcessor
from prompt_toolkit.output import Output
from prompt_toolkit.output.defaults import create_output

from pinakes.cli.prompt.completion import ShellCompleter
from pinakes.cli.prompt.highlight import STYLE, SqlLexer
from pinakes.cli.prompt.history import open_history
from pinakes.cli.prompt.keys import bindings, is_complete
from pinakes.cli.runner import Leave, Runner
from pinakes.cli.script import run_script, run_steps
from pinakes.cli.steps import Script, read_script
from pinakes.core.errors import FileNotFound
from pinakes.core.version import __version__

__all__ = ["Shell", "is_complete", "startup_file"]

LISTING_DELAY = 0.1
LOADING = 3
"""Inputs after which a session has loaded most of what it needs. These objects are excluded from garbage collection,
whose full runs of about 50 ms would be noticeable while typing."""
_COMMANDS = {"exit": "\\q", "quit": "\\q", "help": "\\?"}


def startup_file() -> Path:
    """Returns the path of the start-up script."""
    return Path(platformdirs.user_config_dir("pinakes", appauthor=False)) / "shell.sql"


class Shell:
    def __init__(
        self,
        runner: Runner,
        *,
        history: History | None = None,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self.runner = runner
        self.completer = runner.backend.completer()
        history = history or open_history()
        runner.state.typed = history.get_strings
        runner.console.display.pager = runner.console.display.timing = True
        self.prompts: PromptSession[str] = PromptSession(
            history=history,
            multiline=True,
            key_bindings=bindings(),
            completer=ShellCompleter(self.completer),
            complete_while_typing=True,
            auto_suggest=AutoSuggestFromHistory(),
            lexer=SqlLexer(),
            style=STYLE,
            input_processors=[HighlightMatchingBracketProcessor(chars="[](){}")],
            search_ignore_case=True,
            enable_open_in_editor=True,
            tempfile_suffix=".sql",
            prompt_continuation=_continuation,
            input=input,
            # stdout may be a file while the prompt is on the terminal
            output=output or create_output(always_prefer_tty=True),
        )

    def start(self, script: Path | None) -> None:
        """Runs the start-up script, if it exists; errors in it are reported and do not end the shell."""
        if script is not None and script.is_file():
            try:
                run_script(read_script(str(script)), self.runner)
            except FileNotFound as error:
                self.runner.console.error(error)

    def loop(self) -> None:
        """Reads and runs input until the user leaves."""
        greeting = self.runner.backend.greeting()
        if greeting:
            self.runner.console.say(greeting)
        self.runner.console.say(f"Pinakes {__version__}. \\? for help, \\q to leave.")
        for turn in count():
            if turn < LOADING:
                gc.freeze()
            try:
                self._answer(self._read())
            except KeyboardInterrupt:
                continue
            except (EOFError, Leave):
                return

    def _read(self) -> str:
        state = self.runner.state
        draft, state.drafted = state.drafted, ""
        self.prompts.editing_mode = EditingMode.VI if state.editing == "vi" else EditingMode.EMACS
        return self.prompts.prompt(self._prompt(), default=draft, pre_run=self._list_soon)

    def _list_soon(self) -> None:
        """Refreshes the completion names once the prompt is displayed, so that it does not wait."""
        self.completer.expire()
        asyncio.get_running_loop().call_later(LISTING_DELAY, self.completer.prefetch)

    def _answer(self, text: str) -> None:
        word = text.strip().rstrip(";").strip().lower()
        try:
            run_steps(Script(_COMMANDS.get(word, text)), self.runner)
        except KeyboardInterrupt:
            self.runner.console.say("canceled")

    def _prompt(self) -> StyleAndTextTuples:
        """Returns the prompt: the current namespace, with a star in an open transaction and an exclamation mark in an
        aborted one."""
        position = self.runner.backend.position
        return [("class:prompt", f"{position.place}{position.mark}> ")]


def _continuation(width: int, line: int, wrapped: int) -> StyleAndTextTuples:
    """Returns the prompt of a continuation line; empty for a wrapped line."""
    return [("class:continuation", ("" if wrapped else "-> ").rjust(width))]
