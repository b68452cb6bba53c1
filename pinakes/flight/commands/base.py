"""Base classes of the Flight SQL commands. A command supports GetFlightInfo, GetSchema, DoGet or DoPut by overriding
the method; the default raises InvalidArgument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from pinakes.core.errors import InvalidArgument
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import Message, pack
from pinakes.server.calls import Call


class Answer(NamedTuple):
    """The answer to GetFlightInfo: the schema of the rows, the ticket that fetches them, and their number (-1 if
    unknown)."""

    schema: pa.Schema
    ticket: bytes
    records: int = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """The answer to DoGet. `read` produces the batches under the given call."""

    schema: pa.Schema
    read: Callable[[Call], Iterable[pa.RecordBatch]]


class Command:
    def info(self, message: Message, request: FlightRequest) -> Answer:
        raise self._not_so("GetFlightInfo")

    def schema(self, message: Message, request: FlightRequest) -> pa.Schema:
        raise self._not_so("GetSchema")

    def rows(self, message: Message, request: FlightRequest) -> Rows:
        raise self._not_so("DoGet")

    def put(self, message: Message, request: FlightRequest, reader: Any) -> bytes:
        raise self._not_so("DoPut")

    def _not_so(self, method: str) -> InvalidArgument:
        return InvalidArgument(f"{type(self).__name__} is not a command for {method}")


class Listing(Command):
    """A command that is its own ticket: DoGet computes its rows."""

    def columns(self, message: Message) -> pa.Schema:
        raise NotImplementedError

    def batches(self, message: Message, request: FlightRequest, call: Call) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError

    def info(self, message: Message, request: FlightRequest) -> Answer:
        return Answer(self.columns(message), pack(message))

    def schema(self, message: Message, request: FlightRequest) -> pa.Schema:
        return self.columns(message)

    def rows(self, message: Message, request: FlightRequest) -> Rows:
        return Rows(self.columns(message), lambda call: self.batches(message, request, call))


TEXT, NUMBER, TRUTH = pa.string(), pa.int32(), pa.bool_()


def required(name: str, t: pa.DataType = TEXT) -> pa.Field:
    return pa.field(name, t, nullable=False)


def batch_of(schema: pa.Schema, rows: Sequence[Sequence[object]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
