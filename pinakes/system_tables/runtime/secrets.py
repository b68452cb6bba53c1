"""system.runtime.secrets: the secrets that the user may use, without their values. SHOW SECRETS has the same rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.system_tables.base import TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.runtime_state import SecretInfo


def _rows(request: Request) -> Iterable[SecretInfo]:
    return request.context.runtime.secrets()


TABLE: SystemTable[SecretInfo] = SystemTable(
    name="secrets",
    doc="One row per secret that you may use, without its values.",
    columns=(
        Column("name", TEXT, "Name of the secret", lambda s: s.name),
        Column("type", TEXT, "Type, as in CREATE SECRET … (TYPE x)", lambda s: s.type),
        Column("scope", TEXT, "Scope of the secret; NULL if it has none", lambda s: s.scope or None),
        Column("shared", TRUTH, "Whether all users can use the secret", lambda s: s.shared),
        Column("used_by", pa.list_(TEXT), "Attached catalogs that use the secret", lambda s: list(s.used_by)),
    ),
    items=_rows,
)
