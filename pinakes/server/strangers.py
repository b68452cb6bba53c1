"""Disconnects clients that send much before they have logged in.

gRPC receives a whole message before the server sees the call, and Arrow sets no limit for its size. The only place to
stop a client that is not logged in is therefore its TCP connection. Linux reports how many bytes a connection has
received; on other systems nothing is disconnected, and a proxy must limit the size of requests.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pinakes.server.peers import Address, address_of

log = logging.getLogger(__name__)

MOST_BYTES = 32 << 20
"""Bytes that one connection may receive before its first authenticated call."""
MOST_TOTAL = 256 << 20
"""The same for all such connections together; beyond that, those that received most are disconnected."""
INTERVAL = 0.1
REGULAR = 10
"""Connections are checked every so many intervals, and whenever the process has grown by `GROWTH`."""
GROWTH = 16 << 20
_OWN = Path("/proc/self/fd")
_MEMORY = Path("/proc/self/statm")
_BYTES_RECEIVED = 128
"""The offset of `tcpi_bytes_received` in Linux's `struct tcp_info`."""


class Strangers:
    """The connections to `port` without an authenticated call so far. Thread-safe."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watching, name="pinakes-server-strangers", daemon=True)
        if sys.platform == "linux":
            self._thread.start()

    def admitted(self, peer: str) -> None:
        """Notes an authenticated call of a peer, in gRPC's notation."""
        if peer not in self._known:
            with self._lock:
                self._known.add(peer)

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def look(self) -> None:
        """Disconnects those that have sent too much."""
        with self._lock:
            before = set(self._known)
        known = {address_of(peer): peer for peer in before if peer.startswith(("ipv4:", "ipv6:"))}
        found = list(_connections(self._port))
        try:
            with self._lock:
                self._known -= before - {known[address] for address, _, _ in found if address in known}
                fresh = self._known - before
            known |= {address_of(peer): peer for peer in fresh if peer.startswith(("ipv4:", "ipv6:"))}
            strangers = sorted(((size, address, own) for address, size, own in found if address not in known),
                               key=lambda stranger: stranger[0], reverse=True)  # fmt: skip
            total = sum(size for size, _, _ in strangers)
            for size, (host, _), own in strangers:
                if size <= MOST_BYTES and total <= MOST_TOTAL:
                    break
                total -= size
                log.warning("a client at %s was disconnected: it sent %d bytes without a login", host, size)
                with suppress(OSError):  # it has disconnected itself
                    own.shutdown(socket.SHUT_RDWR)
        finally:
            for _, _, own in found:
                own.close()

    def _watching(self) -> None:
        since, size = 0, _size()
        while not self._closed.wait(INTERVAL):
            since, now = since + 1, _size()
            size = min(size, now)
            if since >= REGULAR or now - size >= GROWTH:
                since, size = 0, now
                try:
                    self.look()
                except Exception:  # the thread must survive
                    log.exception("the connections could not be checked")


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
    info = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    if len(info) < _BYTES_RECEIVED + 8:
        return None
    kind = "ipv6:[{}]:{}" if ":" in host else "ipv4:{}:{}"
    return address_of(kind.format(host, remote)), struct.unpack_from("Q", info, _BYTES_RECEIVED)[0]
