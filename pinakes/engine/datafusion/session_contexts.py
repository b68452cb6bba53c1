"""The contexts of sessions: one each, so that USE, SET and functions never leak. Contexts of one user share
DataFusion's cache of footers, so that a new session does not read them again.

DataFusion's caches belong to the runtime of a context. In its Python binding only `enable_url_table` creates a context
over the runtime of another: with its own options and functions, and with catalogs that read any path, which are
replaced by the session's own at once. Users do not share a runtime: footers in object stores are read with a user's
credentials.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from pinakes.engine.datafusion.session_config import apply_settings, limit_footers, make_context, options_of

if TYPE_CHECKING:
    from datafusion import RuntimeEnvBuilder, SessionContext

    from pinakes.config.settings import Settings
    from pinakes.engine.datafusion.catalog_bridge import Bridge

MOST = 16
"""How many users' are kept while these have no session; those used longest ago go."""


class Contexts:
    """`settings` are the initial ones of sessions, `footers` the bytes of cached footers per user."""

    def __init__(self, runtime: RuntimeEnvBuilder, settings: Settings, footers: int, result_limit: int) -> None:
        self._runtime = runtime
        self._settings = settings
        self._footers = footers
        self._result_limit = result_limit
        self._roots: OrderedDict[str, SessionContext] = OrderedDict()
        """By who reads. Nothing is ever run in them."""
        self._lock = threading.Lock()

    def make(self, reader: str, settings: Settings, bridge: Bridge) -> SessionContext:
        """A new context for a session of this reader."""
        with self._lock:
            context = self._root(reader).enable_url_table()
        context.register_catalog_provider_list(bridge)
        if options_of(settings) != options_of(self._settings):
            apply_settings(context, settings)
        return context

    def limit_footers(self, size: int) -> None:
        """How much of footers DataFusion may remember for each user."""
        with self._lock:
            self._footers = size
            for root in self._roots.values():
                limit_footers(root, size)

    def close(self) -> None:
        with self._lock:
            self._roots.clear()

    def _root(self, reader: str) -> SessionContext:
        if reader not in self._roots:
            self._roots[reader] = make_context(self._runtime, self._settings, self._footers, self._result_limit)
            if len(self._roots) > MOST:
                self._roots.popitem(last=False)
        self._roots.move_to_end(reader)
        return self._roots[reader]
