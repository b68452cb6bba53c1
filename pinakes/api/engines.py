"""Engines that connections share: those of one process that ask for the same configuration get the same engine.

So a catalog that one attaches is there for the others, and what one writes the others read at once, through one set of
caches. The engine closes with the last of them. A `:memory:` one is never shared: each connection has its own.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pinakes.api.build import open_engine
from pinakes.core.config import MEMORY, Config
from pinakes.engine.engine import Engine

_lock = threading.Lock()
_shared: list[_Lease] = []
_released: deque[_Lease] = deque()


@dataclass(eq=False, slots=True)
class _Lease:
    config: Config
    engine: Engine
    users: int = 0
    process: int = field(default_factory=os.getpid)

    def release(self) -> None:
        """Called once per user, by the garbage collector at any moment, also while this very thread holds the lock;
        then it waits until the lock is free. A process that was forked leaves the engine to its parent."""
        if self.process == os.getpid():
            _released.append(self)
            _settle()


def acquire(config: Config) -> tuple[Engine, Callable[[], None]]:
    """An engine, and what gives it back; to be called once."""
    with _lock:
        lease = next((s for s in _shared if s.config == config and config.engine.data != MEMORY), None)
        if lease is None:
            lease = _Lease(config, open_engine(config))
            _shared.append(lease)
        lease.users += 1
    _settle()
    return lease.engine, lease.release


def _settle() -> None:
    """Close the engines that nobody uses any more."""
    while _released and _lock.acquire(blocking=False):
        unused: list[_Lease] = []
        try:
            while _released:
                lease = _released.popleft()
                lease.users -= 1
                if not lease.users:
                    _shared.remove(lease)
                    unused.append(lease)
        finally:
            _lock.release()
        for lease in unused:
            lease.engine.close()
