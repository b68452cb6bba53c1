"""The definition of a command, and the arguments of its function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pinakes.core.errors import InvalidArgument

if TYPE_CHECKING:
    from pinakes.api.shell_backend import ShellBackend
    from pinakes.cli.console import Console
    from pinakes.cli.runner import Runner, ShellState
    from pinakes.cli.steps import Script

Takes = Literal["nothing", "file", "relation", "place", "text"]
"""The kind of the argument, for completion."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command. `statement` is the unfinished statement before the command."""

    runner: Runner
    name: str
    argument: str
    statement: str = ""

    @property
    def console(self) -> Console:
        return self.runner.console

    @property
    def backend(self) -> ShellBackend:
        return self.runner.backend

    @property
    def state(self) -> ShellState:
        return self.runner.state

    def path(self) -> Path:
        """Returns the argument as a path, without surrounding quotes; ~ is expanded."""
        text = self.argument
        return Path(text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text).expanduser()

    def one_of(self, choices: Sequence[str], default: str) -> str:
        """Returns the argument, which must be one of `choices`; `default` if it is empty."""
        given = self.argument.lower()
        if given and given not in choices:
            raise InvalidArgument(f"{self.name} takes {', '.join(choices)}, not {self.argument!r}")
        return given or default

    def switched(self, value: bool) -> bool:
        """Returns the value of on or off; without an argument the opposite of `value`."""
        return self.one_of(("on", "off"), "off" if value else "on") == "on"


@dataclass(frozen=True, slots=True)
class Command:
    names: tuple[str, ...]
    arguments: str
    help: str
    run: Callable[[Call], Script | None]
    """Runs the command, and returns a script to run next, if any."""
    group: str
    takes: Takes = "text"
    choices: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        return f"{self.names[0]} {self.arguments}".strip()
