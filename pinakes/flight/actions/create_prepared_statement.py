"""CreatePreparedStatement: returns the result schema, the parameter schema and a handle. It does not run the
statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from pinakes.core.errors import NotSupportedError
from pinakes.engine.describe import describe
from pinakes.engine.session import Session
from pinakes.flight.errors import Refused, for_caller, on_the_wire
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import message, pack, unpack_as
from pinakes.flight.wire_types import parameter_type
from pinakes.parser.lexer import tokenize_what_fits
from pinakes.server.connections import Prepared
from pinakes.server.limits import check_text


def create_prepared_statement(body: bytes, request: FlightRequest) -> bytes:
    command = unpack_as("ActionCreatePreparedStatementRequest", body)
    check_text(command.query, request)
    connection = request.within(command.transaction_id)
    with _heard(command.query, request, connection.session):
        described = describe(connection.session, command.query, request.call.started)
    handle = request.service.prepared.put(Prepared(connection, command.query, described, request.memory.take()))
    answer = message("ActionCreatePreparedStatementResult")(prepared_statement_handle=handle)
    answer.is_update = described.is_update
    if described.schema is not None:
        answer.dataset_schema = request.client.schema(described.schema).serialize().to_pybytes()
    if len(described.parameters):
        fields = [f.with_type(parameter_type(f.type)) for f in described.parameters]
        answer.parameter_schema = pa.schema(fields).serialize().to_pybytes()
    return pack(answer)


@contextmanager
def _heard(query: str, request: FlightRequest, session: Session) -> Iterator[None]:
    """Reports NotSupportedError in a form that the client shows. ADBC takes UNIMPLEMENTED for a server that can't
    prepare anything, binds the parameters nevertheless, and fails with a message about ingestion. It sends a statement
    without parameters again, and that call reports the error."""
    transaction, client = session.transaction, request.client
    try:
        yield
    except NotSupportedError as error:
        has_parameters = any(token.kind == "parameter" for token in tokenize_what_fits(query)[0])
        is_sent_again = not (has_parameters or client.is_shell or client.is_java)
        if transaction is not None and not is_sent_again:
            transaction.abort()
        if client.is_shell or not has_parameters:
            raise
        raise Refused(str(on_the_wire(for_caller(error, request.identity)))) from None
