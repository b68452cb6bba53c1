"""Secrets: CREATE, DROP and SHOW."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.errors import SecretExists
from pinakes.core.names import Part
from pinakes.core.secrets import EVERYONE, parse_secret
from pinakes.engine.catalogs.registry import EVERYBODY
from pinakes.engine.catalogs.secrets import SHARED, SecretRef
from pinakes.engine.result import Result
from pinakes.engine.session import Session
from pinakes.engine.statement_context import Execution
from pinakes.engine.system.runtime import Runtime
from pinakes.parser.statements import CreateSecret, DropSecret, ShowSecrets


def create_secret(statement: CreateSecret, execution: Execution) -> Result:
    """CREATE [OR REPLACE] [SHARED] [PERSISTENT] SECRET [IF NOT EXISTS] name (TYPE t, KEY 'value', …)."""
    session = execution.session
    store, user = session.engine.secrets, session.identity.user
    name = statement.name.exact
    owner = SHARED if statement.shared else user
    if statement.if_not_exists and store.find(Part(name, quoted=True), session.identity) == SecretRef(owner, name):
        return Result.done("CREATE SECRET")
    everyone = (EVERYONE,) if statement.shared else ()
    options = {option.key: option.value for option in statement.options}
    secret = parse_secret(name, user, options, shared=statement.shared, users=everyone, persistent=statement.persistent)
    try:
        store.put(secret, session.identity, replace=statement.or_replace)
    except SecretExists:
        secret.wipe()
        if not statement.if_not_exists:
            raise
    for mount in session.engine.users_of(SecretRef(owner, name)):
        mount.renew()  # reopened with the new value
    return Result.done("CREATE SECRET")


def drop_secret(statement: DropSecret, execution: Execution) -> Result:
    """DROP SECRET [IF EXISTS] name: removes a secret. It is refused while an attached catalog uses the secret."""
    session = execution.session
    store = session.engine.secrets
    with store.lock:
        ref = store.find(statement.name, session.identity)
        if ref is None and statement.if_exists:
            return Result.done("DROP SECRET")
        ref = store.require(statement.name, session.identity)
        store.drop(ref, session.identity, _catalogs_using(session, ref))
    return Result.done("DROP SECRET")


def _catalogs_using(session: Session, ref: SecretRef) -> list[str]:
    """The catalogs that use a secret; of those that other users attached for themselves, only the number."""
    mounts = session.engine.users_of(ref)
    visible = {m.name for m in mounts if m.owner == session.identity.user or m.audience == EVERYBODY}
    others = sum(m.owner != session.identity.user and m.audience != EVERYBODY for m in mounts)
    return [*sorted(visible), *([f"{others} of other users"] if others else [])]


_SECRETS = pa.schema([(name, pa.string()) for name in ("Name", "Type", "Scope", "Used By")])


def show_secrets(statement: ShowSecrets, execution: Execution) -> Result:
    """SHOW SECRETS [LIKE p]: lists the secrets that the user may use and the catalogs that use them, without values."""
    secrets = Runtime(execution.session).secrets()
    shown = [s for s in secrets if statement.like is None or statement.like.matches(s.name)]
    return Result.rows(_SECRETS, [(s.name, s.type, s.scope, ", ".join(s.used_by)) for s in shown])
