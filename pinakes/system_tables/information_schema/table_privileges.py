"""information_schema.table_privileges: the privileges of the session's user on each table, as far as the engine knows
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.system_tables.base import TEXT, Column, Request, SystemTable, always_null, none
from pinakes.system_tables.catalog_metadata.listing import Entry, list_objects

_CHANGES = ("INSERT", "UPDATE", "DELETE")


class Privilege(NamedTuple):
    entry: Entry
    user: str
    type: str


def _rows(request: Request) -> Iterator[Privilege]:
    """Yields privileges. A catalog's own rules are not included: no catalog discloses them, it refuses at execution."""
    for entry in list_objects(request):
        changes = _CHANGES if entry.kind == "TABLE" and not entry.mount.read_only else ()
        for privilege in ("SELECT", *changes):
            yield Privilege(entry, request.context.identity.user, privilege)


TABLE: SystemTable[Privilege] = SystemTable(
    name="table_privileges",
    doc="Privileges of the session's user on each table, according to the engine. The catalog can refuse more.",
    columns=(
        Column("grantor", TEXT, "Always NULL, because catalogs manage privileges", none),
        always_null("grantor_type", TEXT),
        Column("grantee", TEXT, "User of the session", lambda p: p.user),
        Column("grantee_type", TEXT, "Always USER", lambda _: "USER"),
        Column("table_catalog", TEXT, "Catalog of the table", lambda p: p.entry.catalog, level="catalog"),
        Column("table_schema", TEXT, "Schema of the table", lambda p: p.entry.schema, level="schema"),
        Column("table_name", TEXT, "Name of the table", lambda p: p.entry.name, level="table"),
        Column("privilege_type", TEXT, "SELECT, INSERT, UPDATE or DELETE", lambda p: p.type),
        Column("is_grantable", TEXT, "Always NO", lambda _: "NO"),
        always_null("with_hierarchy", TEXT),
    ),
    items=_rows,
)
