"""EndTransaction: runs COMMIT or ROLLBACK for the transaction of a handle; on success the handle becomes invalid.

If a statement (COMMIT, ROLLBACK) has ended the transaction already, this does nothing, unless another BEGIN has opened
the next one. A client whose COMMIT failed keeps the handle.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.flight.request import FlightRequest
from pinakes.flight.wire.messages import unpack_as

_WORDS = {1: "COMMIT", 2: "ROLLBACK"}


def end_transaction(body: bytes, request: FlightRequest) -> None:
    command = unpack_as("ActionEndTransactionRequest", body)
    word = _WORDS.get(command.action)
    if word is None:
        raise InvalidArgument(f"a transaction ends by 1 (commit) or 2 (rollback), not by {command.action}")
    transaction = request.service.transactions.find(command.transaction_id, request.user)
    if transaction is None:
        if word == "ROLLBACK":
            return  # it was rolled back when it expired, or when the server shut down
        raise request.service.transactions.unknown()
    connection = transaction.connection
    with connection.lock:
        begun = connection.session.transaction
        if begun is not None and (transaction.is_open or request.service.holder(connection) is None):
            connection.session.run(word, started=request.call.started)
        request.service.transactions.take(command.transaction_id, request.user)
