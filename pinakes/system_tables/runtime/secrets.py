"""system.runtime.secrets: the secrets that the user may use, without their values. SHOW SECRETS has the same rows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pinakes.system_tables.base import TEXT, TRUTH, Column, Request, SystemTable
from pinakes.system_tables.runtime_state import SecretInfo


def _rows(request: Request) -> Iterable[SecretInfo]:
    return request.world.runtime.secrets()


TABLE: SystemTable[SecretInfo] = SystemTable(
    name="secrets",
    doc="One row per secret that you may use. No value of it is told.",
    columns=(
        Column("name", TEXT, "Name of the secret", lambda s: s.name),
        Column("type", TEXT, "What it holds, as in CREATE SECRET … (TYPE x)", lambda s: s.type),
        Column("scope", TEXT, "Beginning of the paths that it serves; NULL for all", lambda s: s.scope or None),
        Column("shared", TRUTH, "Whether everybody may use it", lambda s: s.shared),
        Column("used_by", pa.list_(TEXT), "Attached catalogs that are opened with it", lambda s: list(s.used_by)),
    ),
    items=_rows,
)
