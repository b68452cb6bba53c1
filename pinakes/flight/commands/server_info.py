"""The commands about the server itself: properties of its SQL dialect, and its column types."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pinakes.flight.commands.base import NUMBER, TEXT, TRUTH, Listing, batch_of, required
from pinakes.flight.request import FlightRequest
from pinakes.flight.sql_info import SCHEMA, batch, informed
from pinakes.flight.wire.messages import Message, optional
from pinakes.server.calls import Call
from pinakes.system_tables.jdbc.types import type_rows


class GetSqlInfo(Listing):
    """Properties of the server and of its SQL dialect (`flight/sql_info.py`)."""

    def columns(self, message: Message) -> pa.Schema:
        return SCHEMA

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        limits = request.service.limits
        known = informed(limits.prepared_ttl, limits.transaction_ttl, is_java=request.client.is_java)
        wanted = set(message.info) or known.keys()
        yield batch({number: value for number, value in known.items() if number in wanted})


TYPE_INFO = pa.schema(
    [
        required("type_name"),
        required("data_type", NUMBER),
        pa.field("column_size", NUMBER),
        pa.field("literal_prefix", TEXT),
        pa.field("literal_suffix", TEXT),
        pa.field("create_params", pa.list_(required("item"))),
        required("nullable", NUMBER),
        required("case_sensitive", TRUTH),
        required("searchable", NUMBER),
        pa.field("unsigned_attribute", TRUTH),
        required("fixed_prec_scale", TRUTH),
        pa.field("auto_increment", TRUTH),
        pa.field("local_type_name", TEXT),
        pa.field("minimum_scale", NUMBER),
        pa.field("maximum_scale", NUMBER),
        required("sql_data_type", NUMBER),
        pa.field("datetime_subcode", NUMBER),
        pa.field("num_prec_radix", NUMBER),
        pa.field("interval_precision", NUMBER),
    ]
)
_DATETIME = 9
_SUBCODES = {"date": 1, "time": 2, "timestamp": 3, "timestamp with time zone": 5}
_CODES = {16: -7, 2014: 93, 2003: 0, 2000: 0}
"""XDBC has no own codes for JDBC's BOOLEAN (it uses BIT), TIMESTAMP_WITH_TIMEZONE, ARRAY and JAVA_OBJECT."""


class GetXdbcTypeInfo(Listing):
    """The column types, from system.jdbc.types."""

    def columns(self, message: Message) -> pa.Schema:
        return TYPE_INFO

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        wanted = optional(message, "data_type")
        rows = sorted((_type_row(values) for values in type_rows()), key=lambda row: (row[1], row[0]))
        yield batch_of(TYPE_INFO, [row for row in rows if wanted is None or row[1] == wanted])


def _type_row(values: dict[str, object]) -> tuple[object, ...]:
    name, code = str(values["type_name"]), values["data_type"]
    assert isinstance(code, int)
    code = _CODES.get(code, code)
    subcode = _SUBCODES.get(name)
    parameters = values["create_params"]
    same = ("nullable", "case_sensitive", "searchable", "unsigned_attribute", "fixed_prec_scale", "auto_increment")
    return (
        name,
        code,
        values["precision"],
        values["literal_prefix"],
        values["literal_suffix"],
        str(parameters).split(",") if parameters else None,
        *(values[key] for key in same),
        name,
        values["minimum_scale"],
        values["maximum_scale"],
        code if subcode is None else _DATETIME,
        subcode,
        values["num_prec_radix"],
        None,
    )
