"""DROP SECRET [IF EXISTS] name: refused while a catalog is attached with it."""

from __future__ import annotations

from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.parser.statements import DropSecret


def drop_secret(statement: DropSecret, execution: Execution) -> Result:
    session = execution.session
    store = session.engine.secrets
    with store.lock:
        ref = store.find(statement.name, session.identity)
        if ref is None and statement.if_exists:
            return Result.done("DROP SECRET")
        ref = store.require(statement.name, session.identity)
        store.drop(ref, session.identity, (mount.name for mount in session.engine.users_of(ref)))
    return Result.done("DROP SECRET")
