"""Runs the statements of a cell in order. Each result is displayed; the last one is returned.

An error ends the cell with one message: the error itself is changed to show no traceback, which would contain no frame
of the user. An interrupt of the kernel cancels the statement and also ends the cell.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from IPython.display import display

from pinakes.api.connection import Connection
from pinakes.api.errors import raising
from pinakes.api.interruptible import Foreground
from pinakes.api.relation import SHOWN, Relation
from pinakes.core.errors import InvalidArgument, PinakesError
from pinakes.core.output.terminal_text import printable
from pinakes.notebook.values import Namespaces, values_for
from pinakes.parser import split
from pinakes.parser.split import ScriptPart

STAY_OPEN = 8
"""Maximum number of displayed results with more rows that stay open."""


class ShownResult(Relation):
    """A relation that a cell displays. A notebook keeps all displayed results, and each would keep its query open. So
    small results are kept in memory, and of the others only the last few stay open."""

    _open: ClassVar[deque[weakref.ref[ShownResult]]] = deque()

    def begin(self) -> None:
        if self._without_rows() is None:
            _, more = self._first(SHOWN)
            if not more:
                self.arrow()
            else:
                ShownResult._open.append(weakref.ref(self))

    def let_go(self) -> None:
        """Releases unread rows."""
        if self._kept is None and not self._passed_on:
            self._gone = f"{STAY_OPEN} others were shown after it, and the rows not seen were let go of"
            self._result.close()

    @classmethod
    def make_room(cls) -> None:
        while len(cls._open) > STAY_OPEN:
            oldest = cls._open.popleft()()
            if oldest is not None:
                oldest.let_go()


def run_cell(text: str, connection: Connection, namespaces: Namespaces, *, keep: bool) -> Relation | None:
    """Runs all statements. With `keep` the last result goes to a variable: its query runs when it is read."""
    parts = split(text)
    last: Relation | None = None
    for number, part in enumerate(parts, 1):
        if last is not None:
            _show(last)
        with printing_errors(part, text):
            last = _run(part, connection, namespaces, begin=not (keep and number == len(parts)))
    return last


def _run(part: ScriptPart, connection: Connection, namespaces: Namespaces, *, begin: bool) -> Relation:
    def work() -> Relation:
        statement, _ = connection.session.read(part.text)
        values = values_for(statement, namespaces)
        result = connection.run_quietly(part.text, values, lambda: tuple(namespaces))
        if not begin:
            return Relation(result, connection)
        relation = ShownResult(result, connection)
        relation.begin()
        return relation

    foreground = Foreground(work, connection.cancel)
    try:
        relation = foreground.run()
    finally:
        _show_warnings(connection)
        ShownResult.make_room()
    if foreground.interrupted:  # it ended before the interrupt: show its result
        _show(relation)
        raise InvalidArgument("interrupted; the statement above had ended by then, and nothing after it was run")
    return relation


def _show(relation: Relation) -> None:
    display(relation)  # type: ignore[no-untyped-call]


def _show_warnings(connection: Connection) -> None:
    while connection.session.warnings:
        warning = printable(f"warning: {connection.session.warnings.pop(0)}")
        print(warning, file=sys.stderr)  # noqa: T201 - notebooks show stderr


@contextmanager
def printing_errors(part: ScriptPart | None = None, text: str = "") -> Iterator[None]:
    """Converts errors within the block: they show one message, with the position within the cell."""
    start = (1, 1) if part is None else (part.line, part.offset - text.rfind("\n", 0, part.offset))
    try:
        with raising():
            yield
    except PinakesError as error:
        message = error.render(start)
        error._render_traceback_ = lambda: [message]  # type: ignore[attr-defined]  # called by IPython
        raise
