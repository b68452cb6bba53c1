"""Settings of the engine, which concern everybody: the limits of its caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinakes.caches.limits import CacheLimits
    from pinakes.config.settings import SettingRow
    from pinakes.engine.session import Session


def change_global(session: Session, change: Callable[[CacheLimits], None]) -> None:
    """Who may, the guard has decided: `engine/catalogs/authorization/rules.py`."""
    limits = session.engine.cache_limits
    before = limits.now.footers.max_bytes
    change(limits)
    if limits.now.footers.max_bytes != before:
        session.engine.contexts.limit_footers(limits.now.footers.max_bytes)
        for each in session.engine.sessions():
            each.limit_footers()


def all_settings(session: Session) -> list[SettingRow]:
    """What SHOW SESSION and system.runtime.settings list: those of the session, then the global ones."""
    return [*session.settings.rows(session.defaults), *session.engine.cache_limits.rows()]
