"""The prompt: statements over several lines until a `;`, a history, Ctrl-C that stops a statement and not the shell."""

from __future__ import annotations

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.output.defaults import create_output

from pinakes import __version__
from pinakes.cli.history import open_history
from pinakes.cli.runner import Runner
from pinakes.cli.script import Script, run_script
from pinakes.parser import split

HELP = """\
A statement ends with a semicolon and may have several lines.
  \\?            this help
  \\q            leave (so do exit, quit and Ctrl-D)
  Ctrl-C        clear the line, or cancel the statement that runs
  Up, Down      statements typed before
  SHOW TABLES;  what there is to query"""

QUIT = frozenset({"\\q", "exit", "quit"})
HELP_WORDS = frozenset({"\\?", "\\h", "help"})


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
        self.prompts: PromptSession[str] = PromptSession(
            history=history or open_history(),
            multiline=True,
            key_bindings=_bindings(),
            prompt_continuation=lambda width, line, wrapped: "-> ".rjust(width),
            input=input,
            # stdout may be a file while the prompt is on the terminal
            output=output or create_output(always_prefer_tty=True),
        )

    def loop(self) -> None:
        """Read and run until the user leaves."""
        self.runner.console.note(f"Pinakes {__version__}. \\? for help, \\q to leave.")
        while True:
            try:
                text = self.prompts.prompt(self._prompt())
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if _word(text) in QUIT:
                return
            self._answer(text)

    def _answer(self, text: str) -> None:
        if _word(text) in HELP_WORDS:
            self.runner.console.note(HELP)
            return
        if _word(text).startswith("\\"):
            self.runner.console.note(f"no command {_word(text)}; \\? tells which there are")
            return
        try:
            run_script(Script(text), self.runner)
        except KeyboardInterrupt:
            self.runner.console.note("canceled")

    def _prompt(self) -> str:
        session = self.runner.session
        return f"{session.value('current_catalog')}.{session.value('current_schema')}> "


def is_complete(text: str) -> bool:
    """Whether Enter runs the text: a command, or statements that a semicolon ends (not one in quotes or a comment)."""
    if not text.strip() or _word(text).startswith("\\") or _word(text) in QUIT | HELP_WORDS:
        return True
    # One more word begins a statement of its own only if the last one is closed.
    return len(split(text + "\nx")) > len(split(text))


def _word(text: str) -> str:
    return text.strip().rstrip(";").strip().lower()


def _bindings() -> KeyBindings:
    bindings = KeyBindings()
    complete = Condition(lambda: is_complete(get_app().current_buffer.text))

    @bindings.add("enter", filter=complete)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return bindings
