"""BeginTransaction: BEGIN on the caller's connection. Statements that give its handle run in it."""

from __future__ import annotations

from pinakes.flight.connections import Transaction
from pinakes.flight.service import Ask
from pinakes.flight.wire.messages import message, pack, unpack_as


def begin_transaction(body: bytes, ask: Ask) -> bytes:
    unpack_as("ActionBeginTransactionRequest", body)
    connection = ask.connection
    with connection.lock:
        connection.session.run("BEGIN", started=ask.call.started)
        begun = connection.session.transaction
        assert begun is not None
    handle = ask.service.transactions.put(Transaction(connection, begun))
    return pack(message("ActionBeginTransactionResult")(transaction_id=handle))
