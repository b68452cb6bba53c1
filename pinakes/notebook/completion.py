"""Completion in `%sql` and `%%sql`: passes the SQL text to `api/completion`, and its completions to IPython."""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from pinakes.core.errors import PinakesError
from pinakes.notebook.line import read_line

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from pinakes.notebook.magics import SqlMagics

IDENTIFIER = "pinakes.sql"
PATIENCE = 1.0
"""Maximum seconds that Tab waits for a catalog."""

_CELL = re.compile(r"\s*%%sql(?=\s|$)")
_LINE = re.compile(r"\s*(?:[^%'\"#]*=\s*)?%sql(?=\s)")


def complete_in(shell: InteractiveShell, magics: SqlMagics) -> None:
    """Registers completion in this shell."""

    @context_matcher(identifier=IDENTIFIER, priority=100)  # type: ignore[untyped-decorator]
    def matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = sql_at(context.full_text, context.cursor_line, context.cursor_position)
        return SimpleMatcherResult(completions=[]) if found is None else _proposed(magics, *found)

    stop_completing(shell)
    shell.Completer.custom_matchers.append(matcher)


def stop_completing(shell: InteractiveShell) -> None:
    matchers: list[Any] = shell.Completer.custom_matchers
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", None) != IDENTIFIER]


def sql_at(text: str, line: int, column: int) -> tuple[str, int] | None:
    """Returns the SQL text around the cursor and the cursor's position in it; None within Python or options."""
    lines = text.split("\n")
    cursor = sum(len(before) + 1 for before in lines[:line]) + column
    if magic := _CELL.match(text):
        start = _begin(text, magic.end())
        return (text[start:], cursor - start) if start is not None and start <= cursor else None
    if magic := _LINE.match(lines[line]):
        start = _begin(lines[line], magic.end())
        return (lines[line][start:], column - start) if start is not None and start <= column else None
    return None


def _begin(text: str, after: int) -> int | None:
    """Returns the start of the SQL on the line of a magic: after the options and `name <<`."""
    line = text[after:].split("\n")[0]
    try:
        sql = read_line(line).sql
    except PinakesError:  # incomplete options
        return None
    return after + len(line.rstrip()) - len(sql) if sql else after + len(line)


def _proposed(magics: SqlMagics, sql: str, cursor: int) -> SimpleMatcherResult:
    completer = magics.completer()
    until = monotonic() + PATIENCE
    known, found = completer.loaded, completer.complete(sql, cursor)
    # A listing may start the next load, and names that were loaded during the call are not in its result.
    while (completer.busy or completer.loaded > known) and completer.settle(max(0.0, until - monotonic())):
        known, found = completer.loaded, completer.complete(sql, cursor)
    start = found[0].start if found else cursor
    return SimpleMatcherResult(
        completions=[SimpleCompletion(text=one.text, type=one.kind) for one in found if one.start == start],
        matched_fragment=sql[start:cursor],
        suppress=True,
        ordered=True,
    )
