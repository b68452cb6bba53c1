"""DROP SECRET [IF EXISTS] name: refused while a catalog is attached with it."""

from __future__ import annotations

from pinakes.engine.catalogs.registry import EVERYBODY
from pinakes.engine.catalogs.secrets import SecretRef
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import DropSecret


def drop_secret(statement: DropSecret, execution: Execution) -> Result:
    session = execution.session
    store = session.engine.secrets
    with store.lock:
        ref = store.find(statement.name, session.identity)
        if ref is None and statement.if_exists:
            return Result.done("DROP SECRET")
        ref = store.require(statement.name, session.identity)
        store.drop(ref, session.identity, _users(session, ref))
    return Result.done("DROP SECRET")


def _users(session: Session, ref: SecretRef) -> list[str]:
    """The catalogs that are open by it. Of those that other users attached for themselves it is told how many."""
    mounts = session.engine.users_of(ref)
    told = {m.name for m in mounts if m.owner == session.identity.user or m.audience == EVERYBODY}
    others = sum(m.owner != session.identity.user and m.audience != EVERYBODY for m in mounts)
    return [*sorted(told), *([f"{others} of other users"] if others else [])]
