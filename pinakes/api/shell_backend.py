"""Where a shell sits: what it asks of whatever runs its statements.

`LocalSeat` (`local_seat.py`) is an engine in this process, `pinakes.client.RemoteSeat` one behind a Flight SQL server.
The server answers by a `LocalSeat` of its own, so both tell the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pinakes.core.names import Name, Namespace, dotted

if TYPE_CHECKING:
    from pinakes.api.completion import Completer
    from pinakes.engine.result import Result

TransactionState = Literal["none", "open", "aborted"]
_MARKS: dict[TransactionState, str] = {"none": "", "open": "*", "aborted": "!"}


class Standing(NamedTuple):
    """Where names are looked up, and how it stands with the transaction."""

    catalog: str
    namespace: Namespace
    transaction: TransactionState = "none"

    @property
    def place(self) -> str:
        return dotted((self.catalog, *self.namespace))

    @property
    def mark(self) -> str:
        """What the prompt shows of the transaction."""
        return _MARKS[self.transaction]


class Work(NamedTuple):
    """How far the statement is that runs."""

    state: str
    rows: int
    progress: str = ""
    """How far another engine is with it."""


class Seat(Protocol):
    def run(self, sql: str) -> Result:
        """Carry out one statement; its rows stream."""
        ...

    def cancel(self) -> None:
        """Stop what runs. Called from another thread, again and again until it has ended; never waits."""
        ...

    def leave(self) -> None:
        """Nobody waits any more for what runs; it is to end by itself."""
        ...

    def may_be_left(self) -> bool:
        """Whether one need not wait for a statement that was canceled and does not end."""
        ...

    def working(self) -> Work | None:
        """How far what runs is, as far as it is known; None when nothing does. Never waits."""
        ...

    def take_warnings(self) -> list[str]:
        """What is to be said after a statement, once."""
        ...

    @property
    def standing(self) -> Standing: ...

    def completer(self) -> Completer: ...

    def greeting(self) -> str:
        """What is said at first, if anything."""
        ...

    def about(self) -> list[tuple[str, str]]:
        """Who and where one is: lines of a title and a text."""
        ...

    def objects(self, place: Name | None, kind: str | None) -> list[tuple[str, str, str]]:
        """Namespace, name and kind of the tables and views in a place; None is here, with what is temporary."""
        ...

    def functions(self) -> list[tuple[str, str, str, str]]:
        """Name, kind, syntax and description of each."""
        ...

    def statement_forms(self) -> list[str]:
        """The syntax of each statement."""
        ...
