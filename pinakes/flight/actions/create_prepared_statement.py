"""CreatePreparedStatement: what the statement gives and takes, and a handle to run it by. Nothing is run."""

from __future__ import annotations

import pyarrow as pa

from pinakes.engine.describing import describe
from pinakes.flight.connections import Prepared
from pinakes.flight.limits import check_text
from pinakes.flight.service import Ask
from pinakes.flight.wire.messages import message, pack, unpack_as
from pinakes.flight.wire_types import parameter_type


def create_prepared_statement(body: bytes, ask: Ask) -> bytes:
    request = unpack_as("ActionCreatePreparedStatementRequest", body)
    check_text(request.query, ask.service.statements)
    connection = ask.within(request.transaction_id)
    described = describe(connection.session, request.query, ask.call.started)
    handle = ask.service.prepared.put(Prepared(connection, request.query, described))
    answer = message("ActionCreatePreparedStatementResult")(prepared_statement_handle=handle)
    answer.is_update = described.is_update
    if described.schema is not None:
        answer.dataset_schema = ask.caller.client.schema(described.schema).serialize().to_pybytes()
    if len(described.parameters):
        fields = [f.with_type(parameter_type(f.type)) for f in described.parameters]
        answer.parameter_schema = pa.schema(fields).serialize().to_pybytes()
    return pack(answer)
