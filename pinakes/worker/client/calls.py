"""A call of a worker's function on the client's side: bind and begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pinakes.worker.catalog.names import FunctionType
from pinakes.worker.client.connection import CALL_SECONDS, Check, Connection, Stream
from pinakes.worker.wire.arguments import Arguments, call_bytes
from pinakes.worker.wire.filters import Filter, filters_bytes
from pinakes.worker.wire.records import EMPTY, decode, encode, schema_bytes, schema_from
from pinakes.worker.wire.schemas import BIND_REQUEST, CARDINALITY_REQUEST, INIT_REQUEST


@dataclass(frozen=True, kw_only=True)
class FunctionCall:
    """A function call: the function, its arguments, and the attachment."""

    name: str
    type: FunctionType = FunctionType.TABLE
    arguments: Arguments = field(default_factory=Arguments)
    schema_path: Sequence[str] | None = None
    input_schema: pa.Schema | None = None
    attach_opaque_data: bytes | None = field(default=None, repr=False)
    transaction_opaque_data: bytes | None = field(default=None, repr=False)
    at_unit: str | None = None
    at_value: str | None = None

    def request(self) -> bytes:
        return encode(
            BIND_REQUEST,
            {
                "function_name": self.name,
                "arguments": call_bytes(self.arguments),
                "function_type": self.type.name,
                "input_schema": None if self.input_schema is None else schema_bytes(self.input_schema),
                "attach_opaque_data": self.attach_opaque_data,
                "transaction_opaque_data": self.transaction_opaque_data,
                "resolved_secrets_provided": False,
                "at_unit": self.at_unit,
                "at_value": self.at_value,
                "schema_path": None if self.schema_path is None else list(self.schema_path),
            },
        )

    def bind(
        self, connection: Connection, *, timeout: float | None = CALL_SECONDS, check: Check | None = None
    ) -> Bound:
        request = self.request()
        answer = decode(
            connection.call("bind", {"request": request}, timeout=timeout, check=check), "the answer of bind"
        )
        schema = schema_from(answer.get("output_schema"), "the output schema of a function")
        return Bound(self, request, schema, answer.get("opaque_data"))


@dataclass(frozen=True)
class Bound:
    """A bound call; it can begin on any connection to the worker."""

    call: FunctionCall
    request: bytes = field(repr=False)
    schema: pa.Schema
    opaque: bytes | None = field(default=None, repr=False)

    def begin(
        self,
        connection: Connection,
        *,
        columns: Sequence[str] | None = None,
        filters: Sequence[Filter] = (),
        limit: int | None = None,
        of: dict[str, Any] | None = None,
        timeout: float | None = CALL_SECONDS,
        check: Check | None = None,
    ) -> Stream:
        """Begins the call; `of` is the header of a stream whose work this one shares."""
        values: dict[str, Any] = {
            "bind_call": self.request,
            "output_schema": schema_bytes(self.schema),
            "bind_opaque_data": self.opaque,
            "projection_ids": None if columns is None else [self.schema.names.index(c) for c in columns],
            "pushdown_filters": filters_bytes(filters, self.schema.names) if filters else None,
            "row_limit": limit,
        }
        if of is not None:
            values |= {"execution_id": of["execution_id"], "init_opaque_data": of.get("opaque_data")}
        sent = self.call.input_schema if self.call.type is FunctionType.SCALAR else EMPTY
        return connection.stream(encode(INIT_REQUEST, values), sent or EMPTY, timeout=timeout, check=check)

    def cardinality(self, connection: Connection) -> int | None:
        """Returns the worker's estimate of the number of rows, if it has one."""
        request = encode(CARDINALITY_REQUEST, {"bind_call": self.request, "bind_opaque_data": self.opaque})
        answer = decode(connection.call("table_function_cardinality", {"request": request}), "a TableCardinality")
        found = answer.get("estimate")
        return int(found) if found is not None else None
