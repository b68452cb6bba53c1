"""system.runtime.settings: the settings that SET can change, with their values in this session. SHOW SESSION has the
same rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.core.settings import SettingRow
from pinakes.system_tables.base import TEXT, Column, Request, SystemTable


def _rows(request: Request) -> Iterable[SettingRow]:
    return request.world.runtime.settings()


TABLE: SystemTable[SettingRow] = SystemTable(
    name="settings",
    doc="One row per setting of the session.",
    columns=(
        Column("name", TEXT, "Name of the setting", lambda s: s.name),
        Column("value", TEXT, "Value that it has in this session", lambda s: s.value),
        Column("default", TEXT, "Value that RESET gives it", lambda s: s.default),
        Column("type", TEXT, "Type of its values", lambda s: s.type),
        Column("description", TEXT, "What it does", lambda s: s.description),
    ),
    items=_rows,
)
