"""Limits failed logins: per user and address with growing delays, and per address regardless of the user name.

A user is delayed only at the address where the logins failed, so an attacker can't lock out a user at another address.
Random user names count for their address only. A user who has logged in from an address before is not delayed by the
failures of others there, which matters behind NAT and behind a proxy.
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
"""Failures of a user at an address without a delay, for typing errors."""
LONGEST = 300.0
FORGOTTEN = 900.0
"""Seconds after which a user's failures expire."""
ADDRESS_FREE = 20
"""Failures of an address, for any user name, without a delay."""
ADDRESS_PAUSE = 5.0
"""Seconds after which one failure of an address expires."""
MOST = 10_000
"""Maximum number of entries of each kind; the oldest are evicted."""


@dataclass(slots=True)
class _Failures:
    count: float
    last: float

    @property
    def until(self) -> float:
        return self.last + min(LONGEST, 2.0 ** (self.count - FREE - 1)) if self.count > FREE else self.last


class Throttle:
    """Thread-safe. After more than three failures at an address a user waits 1, 2, 4 … seconds there, up to five
    minutes. After 20 failures an address may fail once every five seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._users: OrderedDict[Key, _Failures] = OrderedDict()
        self._networks: OrderedDict[str, _Failures] = OrderedDict()
        self._proved: OrderedDict[Key, None] = OrderedDict()
        """Users with the networks that they have logged in from."""

    def user_wait(self, user: str, address: str) -> float:
        """Returns the seconds until this user may try again from this address; 0 means now."""
        with self._lock:
            found = self._users.get((user, network(address)))
            return max(0.0, found.until - self._clock()) if found is not None else 0.0

    def address_wait(self, user: str, address: str) -> float:
        """Returns the seconds until a login from this address is checked again; 0 for a user who has logged in from
        there before."""
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
        """Records that this user is logged in and calls from this address."""
        key = (user, network(address))
        with self._lock:
            self._proved.pop(key, None)
            self._proved[key] = None
            _bound(self._proved)

    def has_logged_in(self, user: str, address: str) -> bool:
        with self._lock:
            return (user, network(address)) in self._proved

    def _level(self, key: str) -> float:
        """Returns the failures of a network that have not expired."""
        found = self._networks.get(key)
        return 0.0 if found is None else max(0.0, found.count - (self._clock() - found.last) / ADDRESS_PAUSE)


def network(address: str) -> str:
    """Returns the network that counts as one address: the /64 of an IPv6 address, since a host controls all of it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address


def _bound(entries: OrderedDict[Key, _Failures] | OrderedDict[str, _Failures] | OrderedDict[Key, None]) -> None:
    while len(entries) > MOST:
        entries.popitem(last=False)
