"""Failed log-ins slow down whoever fails: each user, from each address, apart. So nobody locks out anybody else."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

Key = tuple[str, str]
"""A user, and the address that they call from."""

FREE = 3
"""Failures that cost nothing: people mistype."""
LONGEST = 300.0
FORGOTTEN = 900.0
"""Seconds after which a failure is no matter any more."""
MOST = 10_000


@dataclass(slots=True)
class _Failures:
    count: int
    last: float

    @property
    def until(self) -> float:
        return self.last + min(LONGEST, 2.0 ** (self.count - FREE - 1)) if self.count > FREE else self.last


class Throttle:
    """Thread-safe. Who has failed more than three times waits 1, 2, 4 … seconds, and five minutes at most."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: OrderedDict[Key, _Failures] = OrderedDict()

    def wait(self, key: Key) -> float:
        """Seconds until another attempt is looked at; 0 is now."""
        with self._lock:
            found = self._failures.get(key)
            return max(0.0, found.until - self._clock()) if found is not None else 0.0

    def failed(self, key: Key) -> None:
        now = self._clock()
        with self._lock:
            found = self._failures.pop(key, None)
            count = 1 if found is None or now - found.last > FORGOTTEN else found.count + 1
            self._failures[key] = _Failures(count, now)
            if len(self._failures) > MOST:
                self._failures.popitem(last=False)

    def succeeded(self, key: Key) -> None:
        with self._lock:
            self._failures.pop(key, None)
