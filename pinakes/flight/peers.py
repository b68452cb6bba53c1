"""The sessions of clients that keep no cookies, by user and TCP connection, for as long as that connection is there.

Flight does not tell when a client disconnects, and a port that was given back is soon another program's, which must not
find itself in a stranger's session. Linux lists the connections there are; elsewhere sessions go by their age alone.
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

Address = tuple[str, int]
"""IP and port; IPv4 within IPv6 as IPv4."""

_LISTS = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
_ESTABLISHED = "01"


class Peers:
    """Thread-safe. `look` tells the other ends of the machine's connections, with what tells a connection from the next
    one of the same address; None where nobody knows."""

    def __init__(self, look: Callable[[], Mapping[Address, str] | None] | None = None) -> None:
        self._look = look or established
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], tuple[bytes, str | None]] = {}

    def find(self, user: str, peer: str) -> bytes | None:
        """The handle of the session."""
        found = self._sessions.get((user, peer))
        return None if found is None else found[0]

    def put(self, user: str, peer: str, handle: bytes) -> None:
        with self._lock:
            self._sessions[user, peer] = handle, None

    def gone(self, peers: set[str]) -> set[str]:
        """Those whose connection is not there any more."""
        there = self._look() if peers else None
        return set() if there is None else {peer for peer in peers if _number(peer, there) is None}

    def sweep(self) -> list[bytes]:
        """Forget those whose connection is gone; their handles."""
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
    """As gRPC writes it: ipv4:127.0.0.1:5000, ipv6:%5B::1%5D:5000."""
    host, _, port = unquote(peer).partition(":")[2].rpartition(":")
    return _plain(ipaddress.ip_address(host.strip("[]").partition("%")[0])), int(port)  # the kernel lists no zones


def _number(peer: str, there: Mapping[Address, str]) -> str | None:
    """What tells the connection from the next; one that is no TCP connection is always the same."""
    return there.get(address_of(peer)) if peer.startswith(("ipv4:", "ipv6:")) else ""


def established() -> dict[Address, str] | None:
    """The other ends of this machine's TCP connections, and the number that the kernel gave each."""
    lists = [path for path in _LISTS if path.exists()]
    return dict(entry for path in lists for entry in _read(path.read_text())) if lists else None


def _read(text: str) -> Iterator[tuple[Address, str]]:
    for line in text.splitlines()[1:]:
        fields = line.split()
        if fields[3] == _ESTABLISHED:
            host, _, port = fields[2].partition(":")
            yield (_plain(ipaddress.ip_address(_bytes(host))), int(port, 16)), fields[9]


def _bytes(text: str) -> bytes:
    """Words of 32 bits in the order of the machine."""
    raw = bytes.fromhex(text)
    words = [raw[at : at + 4] for at in range(0, len(raw), 4)]
    return b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    return str(getattr(address, "ipv4_mapped", None) or address)
