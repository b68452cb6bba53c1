"""EndTransaction: runs COMMIT or ROLLBACK for the transaction of a handle; on success the handle becomes invalid.

If a statement (COMMIT, ROLLBACK) has ended the transaction already, this does nothing, unless another BEGIN has opened
the next one. A client whose COMMIT failed keeps the handle.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument
from pinakes.flight.errors import NotThere
from pinakes.flight.service import RequestContext
from pinakes.flight.wire.messages import unpack_as

_WORDS = {1: "COMMIT", 2: "ROLLBACK"}


def end_transaction(body: bytes, ask: RequestContext) -> None:
    request = unpack_as("ActionEndTransactionRequest", body)
    word = _WORDS.get(request.action)
    if word is None:
        raise InvalidArgument(f"a transaction ends by 1 (commit) or 2 (rollback), not by {request.action}")
    transaction = ask.service.transactions.find(request.transaction_id, ask.user)
    if transaction is None:
        if word == "ROLLBACK":
            return  # it was rolled back when it expired, or when the server shut down
        raise NotThere(ask.service.transactions.unknown())
    connection = transaction.connection
    with connection.lock:
        begun = connection.session.transaction
        if begun is not None and (transaction.is_open or ask.service.holder(connection) is None):
            connection.session.run(word, started=ask.call.started)
        ask.service.transactions.take(request.transaction_id, ask.user)
