"""Shared engines: connections of one process with the same configuration use the same engine.

So a catalog that one connection attaches is visible to the others, and they see each other's writes immediately,
through one set of caches. The engine closes with its last connection. A `:memory:` engine is never shared.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from pinakes.api.build import open_engine
from pinakes.config.model import MEMORY, Config
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
        """Releases the engine. Called once per user, possibly by the garbage collector while this thread holds the
        lock; the release is then deferred until the lock is free. A forked process leaves the engine to its parent."""
        if self.process == os.getpid():
            _released.append(self)
            _settle()


def acquire(config: Config) -> tuple[Engine, Callable[[], None]]:
    """Returns an engine and the function that releases it, which must be called once."""
    with _lock:
        lease = next((s for s in _shared if s.config == config and config.engine.data != MEMORY), None)
        if lease is None:
            lease = _Lease(config, open_engine(config))
            _shared.append(lease)
        lease.users += 1
    _settle()
    return lease.engine, lease.release


def _settle() -> None:
    """Closes the engines without users."""
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
