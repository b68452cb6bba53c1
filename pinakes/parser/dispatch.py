"""The first word of a statement → the form that reads it. Everything a statement may start with stands here."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.parser.cursor import Cursor
from pinakes.parser.forms.alter import alter
from pinakes.parser.forms.attach import attach, detach
from pinakes.parser.forms.call import call, kill
from pinakes.parser.forms.copy import copy
from pinakes.parser.forms.create import create
from pinakes.parser.forms.drop import drop
from pinakes.parser.forms.explain import describe, explain, summarize
from pinakes.parser.forms.insert import insert
from pinakes.parser.forms.merge import merge
from pinakes.parser.forms.prepared import deallocate, execute, prepare
from pinakes.parser.forms.query import STARTS, query
from pinakes.parser.forms.session import reset, set_, use
from pinakes.parser.forms.show import show
from pinakes.parser.forms.small import analyze, begin, comment_on, commit, grant, revoke, rollback, search, start
from pinakes.parser.forms.update import delete, truncate, update
from pinakes.parser.statements import Statement

_FORMS: dict[str, Callable[[Cursor], Statement]] = {
    "ABORT": rollback,
    "ALTER": alter,
    "ANALYZE": analyze,
    "ATTACH": attach,
    "BEGIN": begin,
    "CALL": call,
    "COMMENT": comment_on,
    "COMMIT": commit,
    "COPY": copy,
    "CREATE": create,
    "DEALLOCATE": deallocate,
    "DELETE": delete,
    "DESC": describe,
    "DESCRIBE": describe,
    "DETACH": detach,
    "DROP": drop,
    "EXECUTE": execute,
    "EXPLAIN": explain,
    "GRANT": grant,
    "INSERT": insert,
    "KILL": kill,
    "MERGE": merge,
    "PREPARE": prepare,
    "RESET": reset,
    "REVOKE": revoke,
    "ROLLBACK": rollback,
    "SEARCH": search,
    "SET": set_,
    "SHOW": show,
    "START": start,
    "SUMMARIZE": summarize,
    "TRUNCATE": truncate,
    "UPDATE": update,
    "USE": use,
}


def is_start(word: str) -> bool:
    """Whether a statement may start with this word."""
    return word in _FORMS or word in STARTS


def statement(cursor: Cursor) -> Statement:
    """The statement from here to the end of the text."""
    word = cursor.word
    if word in STARTS:
        return query(cursor)
    form = _FORMS.get(word)
    if form is None:
        starts = sorted([*_FORMS, *(s for s in STARTS if s.isalpha())])
        raise cursor.fault(f"a statement starts with one of {', '.join(starts)}")
    cursor.take()
    return form(cursor)
