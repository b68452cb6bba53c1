"""The commands about keys. Primary keys are Iceberg's identifier fields; Iceberg has no foreign keys."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.engine.driver_metadata import Wanted, asking, exactly
from pinakes.flight.commands.base import NUMBER, TEXT, Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, optional
from pinakes.server.calls import Call

PRIMARY_KEYS = pa.schema(
    [
        pa.field("catalog_name", TEXT),
        pa.field("db_schema_name", TEXT),
        required("table_name"),
        required("column_name"),
        pa.field("key_name", TEXT),
        required("key_sequence", NUMBER),
    ]
)


class GetPrimaryKeys(Listing):
    """The columns of a table's primary key."""

    def columns(self, message: Message) -> pa.Schema:
        return PRIMARY_KEYS

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        schema = exactly(optional(message, "db_schema"))
        wanted = Wanted(optional(message, "catalog"), schema, exactly(message.table))
        with asking(request.connection.session, "GetPrimaryKeys", call.started) as metadata:
            found = metadata.keys(wanted)
        places = [(key.constraint.entry, key) for key in found]
        yield batch_of(
            PRIMARY_KEYS, [(e.catalog, e.schema, e.name, k.column, k.constraint.name, k.position) for e, k in places]
        )


def _side(prefix: str) -> list[pa.Field]:
    names = [pa.field(f"{prefix}_catalog_name", TEXT), pa.field(f"{prefix}_db_schema_name", TEXT)]
    return [*names, required(f"{prefix}_table_name"), required(f"{prefix}_column_name")]


FOREIGN_KEYS = pa.schema(
    [
        *_side("pk"),
        *_side("fk"),
        required("key_sequence", NUMBER),
        pa.field("fk_key_name", TEXT),
        pa.field("pk_key_name", TEXT),
        required("update_rule", pa.uint8()),
        required("delete_rule", pa.uint8()),
    ]
)


class ForeignKeys(Listing):
    """The base of the commands about foreign keys. They return no rows."""

    def columns(self, message: Message) -> pa.Schema:
        return FOREIGN_KEYS

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        yield batch_of(FOREIGN_KEYS, [])


class GetExportedKeys(ForeignKeys):
    """The foreign keys of other tables that refer to a table."""


class GetImportedKeys(ForeignKeys):
    """The foreign keys of a table."""


class GetCrossReference(ForeignKeys):
    """The foreign keys of one table that refer to another."""
