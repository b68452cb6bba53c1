"""SHOW SECRETS [LIKE p]: which secrets the user may use, and what uses them. Never a value."""

from __future__ import annotations

import pyarrow as pa

from pinakes.core.secrets import Secret
from pinakes.engine.execution import Execution
from pinakes.engine.result import Result
from pinakes.engine.secrets import ref_of
from pinakes.engine.session import Session
from pinakes.parser.statements import ShowSecrets

_SCHEMA = pa.schema([(name, pa.string()) for name in ("Name", "Type", "Scope", "Used By")])


def show_secrets(statement: ShowSecrets, execution: Execution) -> Result:
    session = execution.session
    secrets = session.engine.secrets.visible(session.identity)
    shown = [s for s in secrets if statement.like is None or statement.like.matches(s.name)]
    return Result.rows(_SCHEMA, [(s.name, s.type, s.scope, _users(s, session)) for s in shown])


def _users(secret: Secret, session: Session) -> str:
    """The catalogs that are open by it, as far as this user sees them."""
    ref = ref_of(secret)
    return ", ".join(mounted.name for mounted in session.catalogs.listed() if ref in mounted.mount.secrets)
