"""CREATE …: selects the grammar by the kind of object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinakes.parser.cursor import Cursor
from pinakes.parser.grammar.attach import create_catalog
from pinakes.parser.grammar.create_table import create_table
from pinakes.parser.grammar.functions import create_function
from pinakes.parser.grammar.namespaces import WORDS as NAMESPACE_WORDS
from pinakes.parser.grammar.namespaces import create_namespace
from pinakes.parser.grammar.secrets import create_secret
from pinakes.parser.grammar.views import create_view

if TYPE_CHECKING:
    from pinakes.parser.statements import AnyStatement

_KINDS = "TABLE, VIEW, FUNCTION, SCHEMA, CATALOG or SECRET"
NO_SEQUENCES = (
    "is not supported: number rows with row_number() OVER (ORDER BY …) + (SELECT max(id) FROM t), or use uuidv7() as a "
    "key"
)
_REFUSED = ("INDEX", "SEQUENCE", "TYPE", "TRIGGER", "PROCEDURE", "ROLE", "USER")


def create(cursor: Cursor) -> AnyStatement:
    """CREATE [OR REPLACE] [SHARED] [TEMP | PERSISTENT] kind …"""
    or_replace = cursor.accept("OR", "REPLACE")
    shared = cursor.accept("SHARED")
    words: set[str] = set()
    while cursor.word in ("TEMP", "TEMPORARY", "LOCAL", "GLOBAL", "PERSISTENT"):
        words.add(cursor.take().word)
    temporary = bool(words & {"TEMP", "TEMPORARY"})
    shared = shared or cursor.accept("SHARED")
    word = cursor.word
    if word == "MATERIALIZED" or word == "EXTERNAL" or word == "RECURSIVE" or word == "UNLOGGED":
        raise cursor.unsupported(f"CREATE {word} is not supported; what can be made: {_KINDS}")
    if word == "SEQUENCE":
        raise cursor.unsupported(f"CREATE SEQUENCE {NO_SEQUENCES}")
    if word in _REFUSED:
        raise cursor.unsupported(f"CREATE {word} is not supported; what can be made: {_KINDS}")
    if cursor.accept("SECRET"):
        if temporary and "PERSISTENT" in words:
            raise cursor.fault("a secret is either TEMPORARY or PERSISTENT")
        return create_secret(cursor, or_replace, shared, "PERSISTENT" in words)
    if cursor.accept("TABLE"):
        return create_table(cursor, or_replace, temporary)
    if cursor.accept("VIEW"):
        return create_view(cursor, or_replace, temporary)
    if cursor.word in ("FUNCTION", "MACRO"):
        return create_function(cursor, or_replace, temporary)
    if temporary:
        raise cursor.fault("expected TABLE, VIEW or FUNCTION after CREATE TEMP")
    if cursor.accept("CATALOG"):
        return create_catalog(cursor, or_replace)
    if cursor.word not in NAMESPACE_WORDS:
        raise cursor.fault(f"expected {_KINDS} after CREATE")
    if or_replace:
        raise cursor.unsupported("CREATE OR REPLACE SCHEMA is not supported: DROP it first, or use IF NOT EXISTS")
    cursor.take()
    return create_namespace(cursor)
