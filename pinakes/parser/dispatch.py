"""Selects the grammar function of a statement by its first word.

A module is loaded when its word first occurs, so that `select 1` does not load ALTER TABLE.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from pinakes.parser import expansion
from pinakes.parser.cursor import Cursor
from pinakes.parser.faults import Fault
from pinakes.parser.grammar.query import STARTS, query

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

FORMS = {
    "ABORT": "small:rollback",
    "ALTER": "alter:alter",
    "ANALYZE": "small:analyze",
    "ATTACH": "attach:attach",
    "BEGIN": "small:begin",
    "CALL": "call:call",
    "COMMENT": "small:comment_on",
    "COMMIT": "small:commit",
    "COPY": "copy:copy",
    "CREATE": "create:create",
    "DEALLOCATE": "prepared:deallocate",
    "DELETE": "update:delete",
    "DESC": "explain:describe",
    "DESCRIBE": "explain:describe",
    "DETACH": "attach:detach",
    "DROP": "drop:drop",
    "EXECUTE": "prepared:execute",
    "EXPLAIN": "explain:explain",
    "GRANT": "small:grant",
    "INSERT": "insert:insert",
    "KILL": "call:kill",
    "MERGE": "merge:merge",
    "PREPARE": "prepared:prepare",
    "RESET": "session:reset",
    "REVOKE": "small:revoke",
    "ROLLBACK": "small:rollback",
    "SEARCH": "small:search",
    "SET": "session:set_",
    "SHOW": "show:show",
    "START": "small:start",
    "SUMMARIZE": "explain:summarize",
    "TRUNCATE": "update:truncate",
    "UPDATE": "update:update",
    "USE": "session:use",
}
"""Each word with the module in `grammar/` and its function."""

_USUAL = "SELECT, WITH, SHOW, DESCRIBE, USE, CREATE, ALTER, DROP, INSERT, UPDATE, DELETE, EXPLAIN"


def is_start(word: str) -> bool:
    """Returns whether a statement may start with this word."""
    return word in FORMS or word in STARTS or word in expansion.STARTS


def statement(cursor: Cursor) -> AnyStatement:
    """Parses the statement from here to the end of the text."""
    word = cursor.word
    if word in STARTS:
        return query(cursor)
    if word not in FORMS:
        raise _unknown(cursor)
    cursor.take()
    return form_of(word)(cursor)


def form_of(word: str) -> Callable[[Cursor], AnyStatement]:
    """Returns the function that parses the text after this word."""
    module, _, function = FORMS[word].partition(":")
    form: Callable[[Cursor], AnyStatement] = getattr(import_module(f"pinakes.parser.grammar.{module}"), function)
    return form


def _unknown(cursor: Cursor) -> Fault:
    """Returns a Fault with a similar word that starts a statement, or else with the usual ones."""
    from pinakes.core.suggestions import close_to

    close = close_to(cursor.word, [*FORMS, *STARTS], cutoff=0.7)
    if close and cursor.peek().kind == "word":
        return Fault(f"{cursor.peek().text!r} is not a statement; did you mean {close[0]}?", cursor.peek().start)
    return cursor.fault(f"a statement starts with {_USUAL}, …")
