"""Disconnects clients that send more than the server takes, while a message is still under way.

gRPC receives a whole message before the server sees the call, and Arrow sets no limit for its size. The only place to
stop a client is therefore its TCP connection. Linux reports how many bytes a connection has received; on other systems
nothing is disconnected, and a proxy must limit the size of requests.

A connection without an authenticated call may receive a fixed number of bytes: few, since gRPC unpacks a compressed
message to up to a thousand times its size before the server sees who sent it. Arrow does not report the address of a
handshake, so each successful one lets one connection receive more for a while: its first statement may be long. After
the first authenticated call, the bytes of messages that have not reached the server count in the memory of the user
(`engine/execution/memory_budget.py`).
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pinakes.core.tcp_info import COUNTS_BYTES, received_bytes
from pinakes.engine.execution.memory_budget import MemoryBudget
from pinakes.server.peers import Address, address_of

log = logging.getLogger(__name__)

MOST_BYTES = 256 << 10
"""Bytes that one connection may receive before its first authenticated call."""
MOST_TOTAL = 4 << 20
"""The same for all such connections together; beyond that, those that received most are disconnected."""
MOST_AFTER_HANDSHAKE = 32 << 20
"""Bytes that one more connection may receive for each successful handshake: more than a statement can have."""
HANDSHAKE_SECONDS = 60.0
"""How long a handshake counts."""
MOST_HANDSHAKES = 8
SUSPICIOUS = 64 << 10
"""Bytes without a login after which the connections are checked at every interval."""
OVERHEAD = 16 << 10
"""Bytes of headers, frames and metadata that come with a message, besides a sixteenth of its size."""
INTERVAL = 0.1
REGULAR = 10
"""Connections are checked every so many intervals, and whenever the process has grown by `GROWTH`."""
GROWTH = 16 << 20
_OWN = Path("/proc/self/fd")
_MEMORY = Path("/proc/self/statm")


@dataclass(slots=True)
class _Peer:
    """A connection with an authenticated call."""

    user: str
    explained: int = 0
    """The received bytes that belong to messages which have reached the server, as an estimate from above."""


class ConnectionWatch:
    """The connections to `port`. Thread-safe."""

    def __init__(self, port: int, budget: MemoryBudget) -> None:
        self._port, self._budget = port, budget
        self._lock = threading.Lock()
        self._peers: dict[Address, _Peer] = {}
        self._disconnected: set[Address] = set()
        """Those that gRPC has not closed yet."""
        self._handshakes: deque[float] = deque(maxlen=MOST_HANDSHAKES)
        """The times of successful handshakes that no connection has used."""
        self._after_handshake: set[Address] = set()
        """Connections that use a handshake: they may receive more."""
        self._is_suspicious = False
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watching, name="pinakes-server-connections", daemon=True)
        if COUNTS_BYTES:
            self._thread.start()

    def note_message(self, peer: str, user: str, size: int) -> None:
        """Notes a message of an authenticated call, or an answer to it (0 bytes). `peer` is in gRPC's notation."""
        if not peer.startswith(("ipv4:", "ipv6:")):
            return
        address = address_of(peer)
        with self._lock:
            found = self._peers.get(address)
            if found is None:
                found = self._peers[address] = _Peer(user)
            found.user = user  # that of the latest call
            found.explained += size + size // 16 + OVERHEAD

    def note_handshake(self) -> None:
        """Notes that a client has logged in, on a connection that is not known."""
        with self._lock:
            self._handshakes.append(time.monotonic())

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> None:
        """Disconnects those that have sent too much."""
        with self._lock:
            before = set(self._peers)
        found = list(_connections(self._port))
        try:
            self._disconnected &= {address for address, _, _ in found}
            sizes = {address: size for address, size, _ in found if address not in self._disconnected}
            excessive = self._excessive(sizes, before)
            self._disconnected |= excessive
            for address, size, own in found:
                if address in excessive:
                    log.warning("a client at %s was disconnected: it has sent %d bytes", address[0], size)
                    with suppress(OSError):  # it has disconnected itself
                        own.shutdown(socket.SHUT_RDWR)
        finally:
            for _, _, own in found:
                own.close()

    def _excessive(self, received: dict[Address, int], before: set[Address]) -> set[Address]:
        """Returns the connections to close; `before` were known before the list of connections was read."""
        users: defaultdict[str, dict[Address, int]] = defaultdict(dict)
        unknown = dict[Address, int]()
        with self._lock:
            self._peers = {a: peer for a, peer in self._peers.items() if a in received or a not in before}
            for address, size in received.items():
                peer = self._peers.get(address)
                if peer is None:
                    unknown[address] = size
                else:
                    peer.explained = min(peer.explained, size)
                    users[peer.user][address] = size - peer.explained
            over = self._without_login(unknown)
        used = self._budget.used()
        for user, sizes in users.items():
            over |= _largest(sizes, self._budget.per_user - used.get(user, 0))
        sizes = {a: size for of_user in users.values() for a, size in of_user.items() if a not in over}
        return over | _largest(sizes, self._budget.total - sum(used.values()))

    def _without_login(self, received: dict[Address, int]) -> set[Address]:
        """Returns the connections without an authenticated call that have sent too much."""
        self._is_suspicious = any(size > SUSPICIOUS for size in received.values())
        self._after_handshake &= received.keys()
        while self._handshakes and time.monotonic() - self._handshakes[0] > HANDSHAKE_SECONDS:
            self._handshakes.popleft()
        over = set[Address]()
        for address, size in received.items():
            if size > MOST_BYTES and address not in self._after_handshake:
                if self._handshakes:
                    self._handshakes.popleft()
                    self._after_handshake.add(address)
                else:
                    over.add(address)
            if size > MOST_AFTER_HANDSHAKE:
                over.add(address)
        return over | _largest(
            {a: size for a, size in received.items() if a not in over and a not in self._after_handshake}, MOST_TOTAL
        )

    def _watching(self) -> None:
        since, size = 0, _size()
        while not self._closed.wait(INTERVAL):
            since, now = since + 1, _size()
            size = min(size, now)
            if since >= REGULAR or self._is_suspicious or now - size >= GROWTH:
                since, size = 0, now
                try:
                    self.look()
                except Exception:  # the thread must survive
                    log.exception("the connections could not be checked")


def _largest(sizes: dict[Address, int], limit: int) -> set[Address]:
    """Returns the largest of some sizes, without which the others are below a limit."""
    total, over = sum(sizes.values()), set[Address]()
    for address, size in sorted(sizes.items(), key=lambda item: item[1], reverse=True):
        if total <= limit or not size:
            break
        total -= size
        over.add(address)
    return over


def _size() -> int:
    """Returns the bytes of memory that this process uses."""
    return int(_MEMORY.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _connections(port: int) -> Iterator[tuple[Address, int, socket.socket]]:
    """Returns the remote address, the received bytes and a duplicate of each accepted connection to a port."""
    for entry in os.listdir(_OWN):  # noqa: PTH208 - only the numbers
        try:
            is_socket = str((_OWN / entry).readlink()).startswith("socket:")
            number = os.dup(int(entry)) if is_socket else None
        except OSError as error:
            if error.errno in (errno.EBADF, errno.ENOENT):  # closed meanwhile
                continue
            raise  # a connection that is missing here would be taken for a closed one
        if number is None:
            continue
        own = socket.socket(fileno=number)
        found = None
        with suppress(OSError):  # not connected
            found = _accepted(own, port)
        if found is None:
            own.close()
        else:
            yield (*found, own)


def _accepted(own: socket.socket, port: int) -> tuple[Address, int] | None:
    if own.family not in (socket.AF_INET, socket.AF_INET6) or own.type != socket.SOCK_STREAM:
        return None
    if own.getsockname()[1] != port:
        return None
    host, remote = own.getpeername()[:2]  # fails for the listening socket
    received = received_bytes(own)
    kind = "ipv6:[{}]:{}" if ":" in host else "ipv4:{}:{}"
    return None if received is None else (address_of(kind.format(host, remote)), received)
