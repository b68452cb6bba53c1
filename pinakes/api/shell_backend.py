"""The interface of a shell to the engine that runs its statements.

`LocalShellBackend` (`local_shell_backend.py`) uses an engine in this process,
`pinakes.client.shell_backend.RemoteShellBackend` one
behind a Flight SQL server. The server uses a `LocalShellBackend` itself, so both return the same information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pinakes.core.names import Name, Namespace, dotted

if TYPE_CHECKING:
    from pinakes.api.completion import Completer
    from pinakes.engine.result import Result

TransactionState = Literal["none", "open", "aborted"]
_MARKS: dict[TransactionState, str] = {"none": "", "open": "*", "aborted": "!"}


class SessionPosition(NamedTuple):
    """The current namespace and the state of the transaction."""

    catalog: str
    namespace: Namespace
    transaction: TransactionState = "none"

    @property
    def place(self) -> str:
        return dotted((self.catalog, *self.namespace))

    @property
    def mark(self) -> str:
        """The transaction mark in the prompt."""
        return _MARKS[self.transaction]


class Work(NamedTuple):
    """The progress of the running statement."""

    state: str
    rows: int
    progress: str = ""
    """The progress that a remote engine reports."""


class ShellBackend(Protocol):
    def run(self, sql: str) -> Result:
        """Runs one statement; its rows are streamed."""
        ...

    def cancel(self) -> None:
        """Cancels the running statement. Called from another thread, repeatedly until it has ended; never blocks."""
        ...

    def leave(self) -> None:
        """Abandons the running statement, which ends by itself."""
        ...

    def may_be_left(self) -> bool:
        """Whether a canceled statement that does not end may be abandoned."""
        ...

    def working(self) -> Work | None:
        """Returns the known progress of the running statement; None if none is running. Never blocks."""
        ...

    def take_warnings(self) -> list[str]:
        """Returns the warnings since the last call."""
        ...

    @property
    def position(self) -> SessionPosition: ...

    def completer(self) -> Completer: ...

    def greeting(self) -> str:
        """Returns the text shown at the start, or an empty string."""
        ...

    def about(self) -> list[tuple[str, str]]:
        """Returns information about user and session: pairs of a title and a text."""
        ...

    def objects(self, place: Name | None, kind: str | None) -> list[tuple[str, str, str]]:
        """Returns namespace, name and kind of the tables and views in a namespace; None means the current one and
        temporary ones."""
        ...

    def functions(self) -> list[tuple[str, str, str, str]]:
        """Returns name, kind, syntax and description of each function."""
        ...

    def statement_forms(self) -> list[str]:
        """Returns the syntax of each statement."""
        ...
