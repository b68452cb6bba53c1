"""BeginTransaction: runs BEGIN on the caller's connection. Statements that send the returned handle run in the
transaction.

If a BEGIN statement has opened a transaction already, the handle refers to it: a client may turn autocommit off
afterwards.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import message, pack, unpack_as
from pinakes.server.connections import Transaction


def begin_transaction(body: bytes, request: FlightRequest) -> bytes:
    unpack_as("ActionBeginTransactionRequest", body)
    connection = request.connection
    with connection.lock:
        if connection.session.transaction is None:
            connection.session.run("BEGIN", started=request.call.started)
        elif request.service.holder(connection) is not None:
            raise InvalidArgument("a transaction has begun already on this connection: end it first")
        begun = connection.session.transaction
        assert begun is not None
        handle = request.service.transactions.put(Transaction(connection, begun))
    return pack(message("ActionBeginTransactionResult")(transaction_id=handle))
