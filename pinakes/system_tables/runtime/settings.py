"""system.runtime.settings: the settings that SET can change, with their values in this session. SHOW SESSION has the
same rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.config.settings import SettingRow
from pinakes.system_tables.base import TEXT, Column, Request, SystemTable


def _rows(request: Request) -> Iterable[SettingRow]:
    return request.context.runtime.settings()


TABLE: SystemTable[SettingRow] = SystemTable(
    name="settings",
    doc="One row per setting of the session.",
    columns=(
        Column("name", TEXT, "Name of the setting", lambda s: s.name),
        Column("value", TEXT, "Value in this session", lambda s: s.value),
        Column("default", TEXT, "Value after RESET", lambda s: s.default),
        Column("type", TEXT, "Type of the value", lambda s: s.type),
        Column("description", TEXT, "Description", lambda s: s.description),
    ),
    items=_rows,
)
