"""CREATE [OR REPLACE] [SHARED] [PERSISTENT] SECRET [IF NOT EXISTS] name (TYPE t, KEY 'value', …)."""

from __future__ import annotations

from pinakes.core.errors import SecretExists
from pinakes.core.names import Part
from pinakes.core.secrets import EVERYONE, parse_secret
from pinakes.engine.catalogs.secrets import SHARED, SecretRef
from pinakes.engine.commands.attach import given
from pinakes.engine.result import Result
from pinakes.engine.statement_context import Execution
from pinakes.parser.statements import CreateSecret


def create_secret(statement: CreateSecret, execution: Execution) -> Result:
    session = execution.session
    store, user = session.engine.secrets, session.identity.user
    name = statement.name.exact
    owner = SHARED if statement.shared else user
    if statement.if_not_exists and store.find(Part(name, quoted=True), session.identity) == SecretRef(owner, name):
        return Result.done("CREATE SECRET")
    everyone = (EVERYONE,) if statement.shared else ()
    secret = parse_secret(
        name, user, given(statement.options), shared=statement.shared, users=everyone, persistent=statement.persistent
    )
    try:
        store.put(secret, session.identity, replace=statement.or_replace)
    except SecretExists:
        secret.wipe()
        if not statement.if_not_exists:
            raise
    for mount in session.engine.users_of(SecretRef(owner, name)):
        mount.renew()  # it is opened anew, with the new value
    return Result.done("CREATE SECRET")
