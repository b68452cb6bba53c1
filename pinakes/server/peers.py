"""Sessions of clients without cookies, by user and TCP connection, while that connection exists.

Flight does not report disconnects, and a released port is soon reused by another program, which must not get the
session of the previous one. Linux lists the open connections; on other systems such sessions expire by age only.
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

Address = tuple[str, int]
"""IP address and port; IPv4-mapped IPv6 addresses are normalized to IPv4."""

_LISTS = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_ESTABLISHED = "01"


class Peers:
    """Thread-safe. `look` returns the remote addresses of the machine's TCP connections with an id that distinguishes
    successive connections of one address; None if the system does not list them."""

    def __init__(self, look: Callable[[], Mapping[Address, str] | None] | None = None) -> None:
        self._look = look or established
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], tuple[bytes, str | None]] = {}

    def find(self, user: str, peer: str) -> bytes | None:
        """Returns the handle of the session."""
        found = self._sessions.get((user, peer))
        return None if found is None else found[0]

    def put(self, user: str, peer: str, handle: bytes) -> None:
        with self._lock:
            self._sessions[user, peer] = handle, None

    def gone(self, peers: set[str]) -> set[str]:
        """Returns the peers whose connection is closed."""
        there = self._look() if peers else None
        return set() if there is None else {peer for peer in peers if _number(peer, there) is None}

    def sweep(self) -> list[bytes]:
        """Removes the sessions whose connection is closed; returns their handles."""
        with self._lock:
            known = dict(self._sessions)
            there = self._look() if known else None
            if there is None:
                return []
            now = {key: _number(key[1], there) for key in known}
            left = [key for key, (_, was) in known.items() if now[key] is None or was not in (None, now[key])]
            self._sessions = {key: (handle, now[key]) for key, (handle, _) in known.items() if key not in left}
        return [known[key][0] for key in left]


def address_of(peer: str) -> Address:
    """Parses gRPC's notation: ipv4:127.0.0.1:5000, ipv6:%5B::1%5D:5000."""
    host, _, port = unquote(peer).partition(":")[2].rpartition(":")
    return _plain(ipaddress.ip_address(host.strip("[]").partition("%")[0])), int(port)  # /proc has no zone ids


def _number(peer: str, there: Mapping[Address, str]) -> str | None:
    """Returns the id of the connection; constant for peers that are not TCP connections."""
    return there.get(address_of(peer)) if peer.startswith(("ipv4:", "ipv6:")) else ""


def established() -> dict[Address, str] | None:
    """Returns the remote addresses of this machine's TCP connections with their inode numbers; None if there is no
    list."""
    lists = [path for path in _LISTS if path.exists()]
    return dict(entry for path in lists for entry in _read(path.read_text())) if lists else None


def _read(text: str) -> Iterator[tuple[Address, str]]:
    for line in text.splitlines()[1:]:
        fields = line.split()
        if fields[3] == _ESTABLISHED:
            host, _, port = fields[2].partition(":")
            yield (_plain(ipaddress.ip_address(_bytes(host))), int(port, 16)), fields[9]


def _bytes(text: str) -> bytes:
    """Decodes an address: 32-bit words in the byte order of the machine."""
    raw = bytes.fromhex(text)
    words = [raw[at : at + 4] for at in range(0, len(raw), 4)]
    return b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    return str(getattr(address, "ipv4_mapped", None) or address)
