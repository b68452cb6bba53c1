"""CREATE SECRET, DROP SECRET. Values of options never show."""

from __future__ import annotations

from pinakes.parser.cursor import Cursor
from pinakes.parser.options import options
from pinakes.parser.redaction import harmless_in_secret
from pinakes.parser.statements import CreateSecret, DropSecret


def create_secret(cursor: Cursor, or_replace: bool, shared: bool, persistent: bool) -> CreateSecret:
    """CREATE [OR REPLACE] [SHARED] [PERSISTENT] SECRET [IF NOT EXISTS] name (TYPE t, KEY value, …)"""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.part("a name for the secret")
    given = options(cursor, shown=harmless_in_secret)
    cursor.done()
    return CreateSecret(
        text=cursor.text,
        shown=cursor.shown,
        name=name,
        options=given,
        if_not_exists=if_not_exists,
        or_replace=or_replace,
        shared=shared,
        persistent=persistent,
    )


def drop_secret(cursor: Cursor) -> DropSecret:
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.part("the name of a secret")
    cursor.done()
    return DropSecret(text=cursor.text, shown=cursor.shown, name=name, if_exists=if_exists)
