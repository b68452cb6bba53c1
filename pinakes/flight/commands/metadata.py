"""The commands that list catalogs, namespaces, tables and views."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.engine.driver_metadata import Columns, Metadata, Wanted, asking
from pinakes.flight.commands.base import TEXT, Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, optional
from pinakes.flight.wire_types import PREFIX, Client, type_metadata
from pinakes.server.calls import Call
from pinakes.system_tables.catalog_metadata.listing import Entry, Kind
from pinakes.system_tables.jdbc.tables import TYPES

CATALOGS = pa.schema([required("catalog_name")])


class GetCatalogs(Listing):
    """The catalogs that the session sees."""

    def columns(self, message: Message) -> pa.Schema:
        return CATALOGS

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        with asking(request.connection.session, "GetCatalogs", call.started) as metadata:
            names = metadata.catalogs()
        yield batch_of(CATALOGS, [(name,) for name in names])


NAMESPACES = pa.schema([pa.field("catalog_name", TEXT), required("db_schema_name")])


class GetDbSchemas(Listing):
    """The namespaces of catalogs. The levels of a nested namespace are joined by dots."""

    def columns(self, message: Message) -> pa.Schema:
        return NAMESPACES

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        wanted = Wanted(optional(message, "catalog"), optional(message, "db_schema_filter_pattern"))
        with asking(request.connection.session, "GetDbSchemas", call.started) as metadata:
            found = [(space.catalog, space.schema) for space in metadata.schemas(wanted)]
        yield batch_of(NAMESPACES, found)


TABLE_TYPES = pa.schema([required("table_type")])


class GetTableTypes(Listing):
    """The table types."""

    def columns(self, message: Message) -> pa.Schema:
        return TABLE_TYPES

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        yield batch_of(TABLE_TYPES, [(name,) for name in sorted(TYPES.values())])


TABLES = pa.schema(
    [pa.field("catalog_name", TEXT), pa.field("db_schema_name", TEXT), required("table_name"), required("table_type")]
)
TABLES_WITH_COLUMNS = TABLES.append(required("table_schema", pa.binary()))
AT_ONCE = 100
"""Tables with columns per batch."""


class GetTables(Listing):
    """Tables and views, optionally with their columns. Names are listed first; the tables are loaded concurrently and
    their columns are sent in batches, so that a client sees the first ones early.
    """

    def columns(self, message: Message) -> pa.Schema:
        return TABLES_WITH_COLUMNS if message.include_schema else TABLES

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        wanted = Wanted(
            optional(message, "catalog"),
            optional(message, "db_schema_filter_pattern"),
            optional(message, "table_name_filter_pattern"),
        )
        with asking(request.connection.session, "GetTables", call.started) as metadata:
            found = metadata.tables(wanted, _kinds(message))
            if not message.include_schema:
                yield batch_of(TABLES, [_name_row(entry) for entry in found])
            else:
                yield from _with_columns(found, metadata, request.client)


def _kinds(message: Message) -> frozenset[Kind]:
    """Returns the requested kinds. An empty request means all kinds; unknown types match nothing."""
    wanted = set(message.table_types)
    return frozenset(kind for kind, name in TYPES.items() if not wanted or name in wanted)


def _name_row(entry: Entry) -> tuple[str, str, str, str]:
    return entry.catalog, entry.schema, entry.name, TYPES[entry.kind]


def _with_columns(found: list[Entry], metadata: Metadata, client: Client) -> Iterator[pa.RecordBatch]:
    rows: list[tuple[object, ...]] = []
    for entry, columns in metadata.with_columns(found):
        rows.append((*_name_row(entry), table_schema(entry, columns, client).serialize().to_pybytes()))
        if len(rows) == AT_ONCE:
            yield batch_of(TABLES_WITH_COLUMNS, rows)
            rows = []
    yield batch_of(TABLES_WITH_COLUMNS, rows)


def table_schema(entry: Entry, columns: Columns, client: Client) -> pa.Schema:
    """Returns the columns with their wire types and the field metadata that drivers read."""
    place = {
        f"{PREFIX}CATALOG_NAME": entry.catalog,
        f"{PREFIX}DB_SCHEMA_NAME": entry.schema,
        f"{PREFIX}TABLE_NAME": entry.name,
        f"{PREFIX}IS_AUTO_INCREMENT": "0",
        f"{PREFIX}IS_READ_ONLY": "1" if entry.mount.read_only or entry.kind != "TABLE" else "0",
        f"{PREFIX}IS_SEARCHABLE": "1",
    }
    fields = []
    for field, facts in columns:
        properties = {
            **place,
            **type_metadata(facts.type),
            f"{PREFIX}IS_CASE_SENSITIVE": str(int(facts.type == "varchar")),
        }
        if facts.comment:
            properties[f"{PREFIX}REMARKS"] = facts.comment
        fields.append(pa.field(field.name, client.type(field.type), field.nullable, properties))
    return pa.schema(fields)
