"""EndTransaction: COMMIT or ROLLBACK of the transaction that a handle names; the handle is used up.

One that a statement has ended already can be rolled back, so that a client gets rid of it, and not committed.
"""

from __future__ import annotations

from pinakes.core.errors import InvalidArgument, TransactionAborted
from pinakes.flight.errors import NotThere
from pinakes.flight.service import OVER, Ask
from pinakes.flight.wire.messages import unpack_as

_WORDS = {1: "COMMIT", 2: "ROLLBACK"}


def end_transaction(body: bytes, ask: Ask) -> None:
    request = unpack_as("ActionEndTransactionRequest", body)
    word = _WORDS.get(request.action)
    if word is None:
        raise InvalidArgument(f"a transaction ends by 1 (commit) or 2 (rollback), not by {request.action}")
    transaction = ask.service.transactions.take(request.transaction_id, ask.user)
    if transaction is None:
        raise NotThere(ask.service.transactions.unknown())
    connection = transaction.connection
    with connection.lock:
        if not transaction.is_open:
            if word == "ROLLBACK":
                return
            raise InvalidArgument(OVER)
        done = connection.session.run(word, started=ask.call.started)
    if word == "COMMIT" and done.kind == "ROLLBACK":
        raise TransactionAborted("the transaction was rolled back and not committed, since a statement in it failed")
