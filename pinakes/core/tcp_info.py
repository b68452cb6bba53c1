"""Bytes that a TCP connection has received, as Linux counts them."""

from __future__ import annotations

import socket
import struct
import sys

COUNTS_BYTES = sys.platform == "linux"
_OFFSET = 128
"""The offset of `tcpi_bytes_received` in Linux's `struct tcp_info`."""


def received_bytes(connection: socket.socket) -> int | None:
    """Returns the bytes that a connection has received; None if it is not TCP, or the system does not count them."""
    if not COUNTS_BYTES or connection.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("Q", info, _OFFSET)[0] if len(info) >= _OFFSET + 8 else None
