"""Engines that connections share: those of one process that ask for the same configuration get the same engine.

So a catalog that one attaches is there for the others, and what one writes the others read at once, through one set of
caches. The engine closes with the last of them. A `:memory:` one is never shared: each connection has its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from pinakes.api.build import open_engine
from pinakes.core.config import MEMORY, Config
from pinakes.engine.engine import Engine

_lock = threading.Lock()
_shared: list[_Shared] = []


@dataclass(eq=False, slots=True)
class _Shared:
    config: Config
    engine: Engine
    users: int = 0

    def release(self) -> None:
        with _lock:
            self.users -= 1
            if self.users:
                return
            _shared.remove(self)
        self.engine.close()


def acquire(config: Config) -> tuple[Engine, Callable[[], None]]:
    """An engine, and what gives it back; to be called once."""
    if config.engine.data == MEMORY:
        engine = open_engine(config)
        return engine, engine.close
    with _lock:
        found = next((s for s in _shared if s.config == config), None)
        if found is None:
            found = _Shared(config, open_engine(config))
            _shared.append(found)
        found.users += 1
    return found.engine, found.release
