"""BeginTransaction: runs BEGIN on the caller's connection. Statements that send the returned handle run in the
transaction.

If a BEGIN statement has opened a transaction already, the handle refers to it: a client may turn autocommit off
afterwards.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.flight.connections import Transaction
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import message, pack, unpack_as


def begin_transaction(body: bytes, ask: RequestContext) -> bytes:
    unpack_as("ActionBeginTransactionRequest", body)
    connection = ask.connection
    with connection.lock:
        if connection.session.transaction is None:
            connection.session.run("BEGIN", started=ask.call.started)
        elif ask.service.holder(connection) is not None:
            raise InvalidArgument("a transaction has begun already on this connection: end it first")
        begun = connection.session.transaction
        assert begun is not None
        handle = ask.service.transactions.put(Transaction(connection, begun))
    return pack(message("ActionBeginTransactionResult")(transaction_id=handle))
