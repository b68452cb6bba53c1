"""Limits failed logins: per user and address with growing waits, and per address whatever the user names are.

A user waits only where that user failed, so nobody can lock out a user elsewhere. Random user names count for their
address alone. A user who has logged in from an address before is not delayed by the failures of others there, which
matters behind NAT and behind a proxy.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

Key = tuple[str, str]
"""A user and a network."""

FREE = 3
"""Failures of a user at an address that cost nothing: people mistype."""
LONGEST = 300.0
FORGOTTEN = 900.0
"""Seconds after which a failure of a user does not count any more."""
ADDRESS_FREE = 20
"""Failures of an address, under any names, that cost nothing."""
ADDRESS_PAUSE = 5.0
"""Seconds in which one failure of an address is forgiven."""
MOST = 10_000
"""Entries of each kind that are kept; the oldest go first."""


@dataclass(slots=True)
class _Failures:
    count: float
    last: float

    @property
    def until(self) -> float:
        return self.last + min(LONGEST, 2.0 ** (self.count - FREE - 1)) if self.count > FREE else self.last


class Throttle:
    """Thread-safe. A user who has failed more than three times at an address waits 1, 2, 4 … seconds there, and five
    minutes at most. An address that has failed 20 times may fail once in five seconds from then on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._users: OrderedDict[Key, _Failures] = OrderedDict()
        self._networks: OrderedDict[str, _Failures] = OrderedDict()
        self._proved: OrderedDict[Key, None] = OrderedDict()
        """Users and the networks that they have logged in from."""

    def user_wait(self, user: str, address: str) -> float:
        """Seconds until another attempt of this user from this address is looked at; 0 is now."""
        with self._lock:
            found = self._users.get((user, network(address)))
            return max(0.0, found.until - self._clock()) if found is not None else 0.0

    def address_wait(self, user: str, address: str) -> float:
        """Seconds until another attempt from this address is looked at. A user who has logged in from there before
        does not wait."""
        key = (user, network(address))
        with self._lock:
            if key in self._proved:
                return 0.0
            return max(0.0, (self._level(key[1]) + 1 - ADDRESS_FREE) * ADDRESS_PAUSE)

    def failed(self, user: str, address: str) -> None:
        key, now = (user, network(address)), self._clock()
        with self._lock:
            found = self._users.pop(key, None)
            count = 1 if found is None or now - found.last > FORGOTTEN else found.count + 1
            self._users[key] = _Failures(count, now)
            level = self._level(key[1])
            self._networks.pop(key[1], None)
            self._networks[key[1]] = _Failures(level + 1, now)
            _bound(self._users)
            _bound(self._networks)

    def succeeded(self, user: str, address: str) -> None:
        with self._lock:
            self._users.pop((user, network(address)), None)

    def note_origin(self, user: str, address: str) -> None:
        """This user is logged in and calls from this address."""
        key = (user, network(address))
        with self._lock:
            self._proved.pop(key, None)
            self._proved[key] = None
            _bound(self._proved)

    def has_logged_in(self, user: str, address: str) -> bool:
        with self._lock:
            return (user, network(address)) in self._proved

    def _level(self, key: str) -> float:
        """Failures of a network that are not forgiven yet."""
        found = self._networks.get(key)
        return 0.0 if found is None else max(0.0, found.count - (self._clock() - found.last) / ADDRESS_PAUSE)


def network(address: str) -> str:
    """What counts as one address: of IPv6 the /64, which one host has whole."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address


def _bound(entries: OrderedDict[Key, _Failures] | OrderedDict[str, _Failures] | OrderedDict[Key, None]) -> None:
    while len(entries) > MOST:
        entries.popitem(last=False)
